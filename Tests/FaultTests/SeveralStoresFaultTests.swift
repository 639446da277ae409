import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A receiver dies, or is let down by the system, amid a session of three stores. Each store is the old one whole or the new one
/// whole, what the sender was told is true, and the next session brings all of them.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct SeveralStoresFaultTests {
    private static let names = ["Notes", "Photos", "Recipes"]

    private let scratch: ScratchFolder
    /// The receiver under another name, which the shim does not know.
    private let sender: FilePath
    /// Holds the first state of each store.
    private let template: FilePath
    /// Holds what the sender remembers of it.
    private let memory: FilePath
    private let old: [StoreContent]
    private let new: [StoreContent]

    init() async throws {
        scratch = try .inMemory()
        sender = scratch.path.appending("sender")
        try PlatformCalls.symbolicLink(at: sender, to: try BuiltProgram.path())
        template = scratch.path.appending("template")
        memory = scratch.path.appending("memory")
        let stores = Self.names.map { [scratch] in scratch.path.appending("\($0).sqlite") }
        func change(_ text: String) throws -> [StoreContent] {
            try stores.map { store in
                try TestStore.make(
                    at: store,
                    sql: "CREATE TABLE IF NOT EXISTS t(a, b); INSERT INTO t VALUES ('\(text)', zeroblob(9000));")
                return try StoreContent(of: store)
            }
        }
        old = try change("old")
        let command = "'\(try BuiltProgram.path())' receive --into '\(template)' --from -"
        try await BuiltProgram.expectSuccess(
            ["send"] + stores.map(\.string) + ["--to", "exec:\(command)"],
            environment: ["XDG_STATE_HOME": memory.string])
        new = try change("new")
    }

    /// How the stores go.
    enum Way: String, CaseIterable, Sendable { case whole, delta }

    @Test(arguments: [FaultShim.Action.kill, .eio, .enospc], Way.allCases)
    func `each store is the old or the new one, whole, and what was told is true`(
        action: FaultShim.Action, way: Way
    ) async throws {
        let step = Soak.isOn ? 1 : 31
        // Other calls with each action.
        var call = action == .kill ? 1 : action == .eio ? 4 : 8
        var partial = 0
        while let count = try await round(action, at: call, way) {
            if (1...2).contains(count) { partial += 1 }
            call += step
        }
        #expect(call > 60, "the shim counts almost nothing")
        #expect(partial > 0, "no session ended in its midst")
    }

    /// - Returns: How many stores the sender was told to be installed; `nil` if there was no such call.
    private func round(_ action: FaultShim.Action, at call: Int, _ way: Way) async throws -> Int? {
        let comment: Comment = "\(action) at \(call)"
        let place = try scratch.folder("\(UUID())")
        defer { try? Folder.removeTree(at: place) }
        let (inbox, log) = (place.appending("inbox"), place.appending("calls"))
        try FileManager.default.copyItem(atPath: template.string, toPath: inbox.string)
        let temporary = try scratch.folder("temporary-\(UUID())")
        defer { try? Folder.removeTree(at: temporary) }

        var environment = ["TMPDIR": temporary.string]
        if way == .delta {
            let state = place.appending("state")
            try FileManager.default.copyItem(atPath: memory.string, toPath: state.string)
            environment["XDG_STATE_HOME"] = state.string
        }
        let outcome = try await send(
            to: inbox, FaultShim.environment(action, at: call, log: log).merging(environment) { $1 })
        let told = try Self.installed(outcome)
        // One at least of those that arrived went as it was to.
        let hasDelta = outcome.stdout.contains(#""encoding":"delta""#)
        #expect(hasDelta == (way == .delta && !told.isEmpty), "\(comment) \(outcome.stdout.suffix(300))")
        let states = try Self.names.map { try StoreContent(of: inbox.appending("\($0).sqlite")) }
        for (index, state) in states.enumerated() {
            #expect(state == old[index] || state == new[index], "\(comment) \(Self.names[index])")
            if told.contains(Self.names[index]) { #expect(state == new[index], "\(comment) \(Self.names[index])") }
        }
        #expect((outcome.status == .exited(0)) == (told.count == Self.names.count), "\(comment) \(outcome.stderr)")
        // One comes after the other: nothing of a later one is there while an earlier one is missing.
        if action == .kill { #expect(Array(told) == Array(Self.names.prefix(told.count)), comment) }
        try await BuiltProgram.expectSuccess(["verify", inbox.string], comment)
        #expect(try Folder.names(in: temporary) == [], comment)

        let next = try await send(to: inbox, environment)
        #expect(next.status == .exited(0), "\(comment) \(next.stderr)")
        for (name, content) in zip(Self.names, new) {
            #expect(try StoreContent(of: inbox.appending("\(name).sqlite")) == content, "\(comment) \(name)")
            #expect(try Folder.names(in: inbox.appending(".ship-store/\(name)/staging")) == [], "\(comment) \(name)")
        }
        return FaultShim.calls(in: log).count >= call ? told.count : nil
    }

    private func send(to inbox: FilePath, _ environment: [String: String]) async throws -> ChildProgram.Outcome {
        let command = "'\(try BuiltProgram.path())' receive --into '\(inbox)' --from -"
        let stores = Self.names.map { scratch.path.appending("\($0).sqlite").string }
        return try await ChildProgram(
            sender, ["send"] + stores + ["--to", "exec:\(command)", "--json"], environment: environment
        )
        .wait()
    }

    /// The stores of which the sender was told that they are there, in this order.
    private static func installed(_ outcome: ChildProgram.Outcome) throws -> [String] {
        try outcome.stdout.split(separator: "\n").compactMap { line in
            let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return event?["event"] as? String == "finished" ? event?["name"] as? String : nil
        }
    }
}
