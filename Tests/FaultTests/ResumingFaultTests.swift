import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// One side dies, or is let down by the system, while a shipment goes on that had broken off before: the store is the old one whole or
/// the new one whole, the next session brings it, and then nothing waits anywhere.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct ResumingFaultTests {
    private let scratch: ScratchFolder
    private let store: FilePath
    /// The program under another name, which the shim does not know.
    private let other: FilePath
    /// An inbox in which a generation is current, and what its sender remembers.
    private let (inbox, state): (FilePath, FilePath)
    private let old: StoreContent
    private let new: StoreContent

    init() async throws {
        scratch = try .inMemory()
        store = scratch.path.appending("Notes.sqlite")
        other = scratch.path.appending("other")
        try PlatformCalls.symbolicLink(at: other, to: try BuiltProgram.path())
        (inbox, state) = (scratch.path.appending("inbox"), scratch.path.appending("state"))
        try TestStore.make(at: store, sql: "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'old')")
        old = try StoreContent(of: store)
        let program = try BuiltProgram.path()
        let send = { [store, state] (command: String) async throws in
            try await BuiltProgram.run(
                ["send", store.string, "--to", "exec:\(command)", "--level", "6", "-q"],
                environment: ["XDG_STATE_HOME": state.string])
        }
        let first = try await send("'\(program)' receive --into '\(inbox)' --from - -q")
        try #require(first.status == .exited(0), Comment(rawValue: first.stderr))
        try TestStore.make(
            at: store,
            sql: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
                INSERT INTO t SELECT i, randomblob(100) FROM n;
                """)
        new = try StoreContent(of: store)
    }

    enum Victim: CaseIterable, Sendable { case sender, receiver }

    @Test(arguments: [FaultShim.Action.kill, .eio, .enospc], Victim.allCases)
    func `the store is the old or the new one, and the next session goes on`(
        action: FaultShim.Action, victim: Victim
    ) async throws {
        let step = Soak.isOn ? 1 : 19
        var (call, resumed, isThereSuchACall) = (action == .kill ? 1 : action == .eio ? 3 : 5, 0, true)
        while isThereSuchACall {
            let comment: Comment = "\(action) of the \(victim) at \(call)"
            let place = try scratch.folder("\(UUID())")
            defer { try? Folder.removeTree(at: place) }
            let (inbox, state) = (place.appending("inbox"), place.appending("state"))
            try FileManager.default.copyItem(atPath: self.inbox.string, toPath: inbox.string)
            try FileManager.default.copyItem(atPath: self.state.string, toPath: state.string)
            let (temporary, log) = (try scratch.folder("tmp-\(UUID())"), place.appending("calls"))
            defer { try? Folder.removeTree(at: temporary) }
            let environment = ["XDG_STATE_HOME": state.string, "TMPDIR": temporary.string]
            // Of the next one about two thirds come.
            _ = try await send(to: inbox, environment, nil, through: "dd bs=64 count=4700 status=none |")
            try #require(try Folder.names(in: inbox.appending(".ship-store/Notes/staging")).count == 1)

            let faulty = FaultShim.environment(action, at: call, log: log).merging(environment) { $1 }
            let outcome = try await send(to: inbox, faulty, victim)
            isThereSuchACall = FaultShim.calls(in: log).count >= call
            if outcome.stdout.contains("resumed") { resumed += 1 }
            let now = try StoreContent(of: inbox.appending("Notes.sqlite"))
            #expect(now == old || now == new, comment)
            if outcome.stdout.contains("finished") { #expect(now == new, comment) }

            let next = try await send(to: inbox, environment, nil)
            #expect(next.status == .exited(0), "\(comment) \(next.stderr)")
            #expect(try StoreContent(of: inbox.appending("Notes.sqlite")) == new, comment)
            #expect(try Folder.names(in: inbox.appending(".ship-store/Notes/staging")) == [], comment)
            try await BuiltProgram.expectSuccess(["verify", inbox.string], comment)
            let bases = try await BuiltProgram.run(["bases", "--json"], environment: environment)
            #expect(bases.status == .exited(0) && !bases.stdout.contains("unfinished"), "\(comment) \(bases.stdout)")
            #expect(try Folder.names(in: temporary) == [], comment)
            call += step
        }
        #expect(call > 30 && resumed > 2, "the shim counts almost nothing: \(call), \(resumed)")
    }

    /// - Parameter victim: The one that the shim knows.
    private func send(
        to inbox: FilePath, _ environment: [String: String], _ victim: Victim?, through filter: String = ""
    ) async throws -> ChildProgram.Outcome {
        let program = try BuiltProgram.path()
        let receiver = victim == .sender ? other : program
        // The same text each time: it is what the sender knows the receiver by.
        let command = #"exec:eval "$FILTER" '"$RECEIVER"' receive --into '"$INBOX"' --from -"#
        return try await ChildProgram(
            victim == .receiver ? other : program,
            ["send", store.string, "--to", command, "--level", "6", "--json"],
            environment: environment.merging(
                ["FILTER": filter, "RECEIVER": receiver.string, "INBOX": inbox.string]) { $1 }
        ).wait()
    }
}
