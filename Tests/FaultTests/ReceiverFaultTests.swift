import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A receiver dies, or is let down by the system, at every call that changes anything. Whatever happens, `current` is the
/// old generation whole or the new one whole, the next shipment works, and nothing is left behind.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct ReceiverFaultTests {
    /// What is in the inbox when the shipment comes.
    enum Start: CaseIterable, Sendable { case nothing, generationOne }
    /// How the shipment comes.
    enum Way: CaseIterable, Sendable {
        /// From a file, to which nobody answers.
        case file
        /// From a sender that waits for the receipt, and whose child the receiver is.
        case sender
    }

    private let sample: ShipmentSample

    init() async throws {
        sample = try await ShipmentSample(in: .inMemory())
    }

    @Test(arguments: [(Start.nothing, Way.file), (.generationOne, .file), (.generationOne, .sender)])
    func `a receiver that is killed at any call leaves the old or the new generation, whole`(
        start: Start, way: Way
    ) async throws {
        try await sweep(start, way, .kill, .once, from: 1, by: Soak.isOn ? 1 : 3)
    }

    @Test(arguments: Start.allCases, [FaultShim.Action.eio, .enospc])
    func `a call that fails leaves the old generation, or the receiver succeeds all the same`(
        start: Start, action: FaultShim.Action
    ) async throws {
        // The short form leaves out calls, other ones in each of its sweeps.
        let step = Soak.isOn ? 1 : 13
        let first = action == .eio ? 1 : 3
        try await sweep(start, .file, action, .once, from: first % step + 1, by: step)
        try await sweep(start, .file, action, .onward, from: (first + 1) % step + 1, by: step)
    }

    private func sweep(
        _ start: Start, _ way: Way, _ action: FaultShim.Action, _ extent: FaultShim.Extent, from first: Int,
        by step: Int
    ) async throws {
        var call = first
        while try await round(Fault(action: action, extent: extent, call: call), start, way) { call += step }
        #expect(call > 20, "the shim counts almost nothing")
    }

    struct Fault {
        let action: FaultShim.Action
        let extent: FaultShim.Extent
        let call: Int

        /// Those calls of a log that were made.
        func made(of calls: [FaultShim.Call]) -> [FaultShim.Call] {
            calls.enumerated().filter { index, _ in extent == .once ? index + 1 != call : index + 1 < call }
                .map(\.element)
        }
    }

    /// - Returns: Whether there was such a call.
    private func round(_ fault: Fault, _ start: Start, _ way: Way) async throws -> Bool {
        let place = try sample.scratch.folder("\(UUID())")
        defer { try? Folder.removeTree(at: place) }
        let (inbox, log, temporary) = (
            place.appending("inbox"), place.appending("calls"), try sample.scratch.folder("temporary-\(UUID())")
        )
        if start == .generationOne {
            try FileManager.default.copyItem(atPath: sample.template.string, toPath: inbox.string)
        }
        let before = Set(
            try FileManager.default.subpathsOfDirectory(atPath: place.string).map { "\(place)/\($0)" })
        let (old, new) = start == .nothing ? (0, 1) : (1, 2)
        let comment: Comment = "\(fault), \(start), \(way)"

        let end = try await receive(
            way, into: inbox,
            FaultShim.environment(fault.action, at: fault.call, fault.extent, log: log).merging(
                ["TMPDIR": temporary.string]
            ) { $1 })
        let calls = FaultShim.calls(in: log)

        // What everybody sees at once.
        let current = ShipmentSample.current(of: inbox)
        let link = inbox.appending("Recipes.sqlite")
        let isLinked = (try? PlatformCalls.status(of: link)) != nil
        // The public name of a first generation comes last; it never leads to nothing.
        if isLinked || start == .generationOne || end.receiver == 0 {
            sample.expect(inbox, serves: current == 0 ? 0 : current == new ? 2 : 1, comment)
            #expect((try? PlatformCalls.statusFollowingLinks(of: link)) != nil, comment)
        }
        if (try? PlatformCalls.status(of: inbox.appending(".ship-store"))) != nil {
            try await BuiltProgram.expectSuccess(["verify", inbox.string], comment)
        }
        switch end.receiver {
        case 0: #expect(current == new, comment)
        case 128 + SIGKILL where fault.action == .kill: #expect([old, new].contains(current), comment)
        case 73 where fault.action == .enospc, 73 where fault.action == .eio, 74 where fault.action == .eio:
            // Where nothing works any more, the way back does not either.
            #expect(fault.extent == .once ? current == old : [old, new].contains(current), "\(comment) \(end.words)")
        default: Issue.record("\(end) \(comment)")
        }
        // A sender that was told "installed" was told the truth.
        if end.isReceiptSent { #expect(current == new, comment) }
        #expect(try Folder.names(in: temporary) == [], comment)

        // The next shipment works, and tidies up.
        let nextLog = place.appending("calls of the next one")
        let next = try await receive(.file, into: inbox, FaultShim.environment(log: nextLog))
        #expect(next.receiver == 0, "\(comment) \(next.words)")
        #expect(ShipmentSample.current(of: inbox) == new, comment)
        sample.expect(inbox, serves: 2, comment)
        // What was current a moment ago may still be there.
        try ShipmentSample.expectTidy(inbox, generations: max(1, old)...new, comment)
        // Its receipt survives a power cut, although it may not have made everything itself.
        var pending = PendingChanges(known: before.union([place.string]))
        for call in fault.made(of: calls) + FaultShim.calls(in: nextLog) { pending.make(call) }
        #expect(pending.around(try Self.servedPaths(in: inbox)) == [], comment)
        try Folder.removeTree(at: temporary)
        return calls.count >= fault.call
    }

    /// How a receiver ended, as a shell says it, and what was said.
    private struct End {
        let receiver: Int32
        /// Whether a sender waited, and was told that all is well.
        let isReceiptSent: Bool
        let words: String
    }

    /// Receives the second shipment.
    private func receive(_ way: Way, into inbox: FilePath, _ environment: [String: String]) async throws -> End {
        let arguments = ["receive", "--into", inbox.string, "--keep", "1", "--from"]
        guard way == .sender else {
            let outcome = try await BuiltProgram.run(
                arguments + [sample.shipments[1].string], environment: environment)
            return End(receiver: outcome.status.asShellsSay, isReceiptSent: false, words: outcome.stderr)
        }
        // Under another name, which the shim does not know.
        let place = inbox.removingLastComponent()
        let (sender, status) = (place.appending("sender"), place.appending("status of the receiver"))
        let program = try BuiltProgram.path()
        try PlatformCalls.symbolicLink(at: sender, to: program)
        let command = (["\(program)"] + arguments + ["-"]).map { "'\($0)'" }.joined(separator: " ")
        let outcome = try await ChildProgram(
            sender, ["send", sample.source.string, "--to", "exec:\(command); echo $? > '\(status)'"],
            environment: environment
        ).wait()
        let text = try String(contentsOfFile: status.string, encoding: .utf8)
        return End(
            receiver: try #require(Int32(text.dropLast())), isReceiptSent: outcome.status == .exited(0),
            words: outcome.stderr)
    }

    /// What has to be there for a reader of the current generation.
    private static func servedPaths(in inbox: FilePath) throws -> [String] {
        let store = inbox.appending(".ship-store/Recipes")
        let generation = try PlatformCalls.targetOfSymbolicLink(at: store.appending("current"))
        return [
            store.appending("current"), store.appending(generation.components), inbox.appending("Recipes.sqlite"),
            inbox.appending(".Recipes_SUPPORT"),
        ].map(\.string)
    }
}

extension ChildProgram.Ending {
    /// `$?`.
    fileprivate var asShellsSay: Int32 {
        switch self {
        case .exited(let code): code
        case .signalled(let signal): 128 + signal
        }
    }
}
