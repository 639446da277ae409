import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// An operator's rollback dies at every call that changes anything. Whatever happens, `current` is one generation whole,
/// the store is held, and what was rolled back is refused, exactly if the step was made, and the next step works.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct RollbackFaultTests {
    enum Direction: CaseIterable, Sendable { case back, forward }

    private let sample: ShipmentSample

    init() async throws {
        sample = try await ShipmentSample(in: .inMemory())
        let inbox = sample.template
        try await BuiltProgram.expectSuccess(["receive", "--into", inbox.string, "--from", sample.shipments[1].string])
    }

    @Test(arguments: Direction.allCases)
    func `a rollback that is killed at any call was made, or was not`(direction: Direction) async throws {
        try await sweep(direction, .kill, by: 1)
    }

    @Test(arguments: Direction.allCases)
    func `a rollback of which a call fails was made, or was not`(direction: Direction) async throws {
        // The short form leaves out calls, other ones in each direction.
        try await sweep(direction, .eio, from: direction == .back ? 1 : 2, by: Soak.isOn ? 1 : 3)
    }

    @Test func `a step forward that is done is no failure, whatever comes of its record`() async throws {
        let log = sample.scratch.path.appending("calls")
        let (inbox, names) = (sample.template, ["rename", "renameat", "renameat2"])
        let (back, forward) = (["rollback", "Recipes", "--into", inbox.string], ["--to", "2"])
        try await BuiltProgram.expectSuccess(back)
        try await BuiltProgram.expectSuccess(
            back + forward, environment: FaultShim.environment(only: names, log: log))
        let last = try #require(FaultShim.calls(in: log).lastIndex { $0.target?.hasSuffix("/rollback.json") == true })
        try await BuiltProgram.expectSuccess(back)
        try PlatformCalls.removeFile(log)
        let outcome = try await BuiltProgram.run(
            back + forward, environment: FaultShim.environment(.enospc, at: last + 1, only: names, log: log))
        #expect(FaultShim.calls(in: log).count == last + 1)
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(ShipmentSample.current(of: inbox) == 2)
        let list = try await BuiltProgram.expectSuccess(["list", "--into", inbox.string, "--json"])
        #expect(!list.stdout.contains("onHoldSince"))
        try await BuiltProgram.expectSuccess(["receive", "--into", inbox.string, "--from", sample.shipments[1].string])
    }

    private func sweep(
        _ direction: Direction, _ action: FaultShim.Action, from first: Int = 1, by step: Int
    ) async throws {
        var call = first
        while try await round(direction, action, call) { call += step }
        #expect(call > (direction == .back ? 8 : 5), "the shim counts almost nothing")
    }

    /// - Returns: Whether there was such a call.
    private func round(_ direction: Direction, _ action: FaultShim.Action, _ call: Int) async throws -> Bool {
        let place = try sample.scratch.folder("\(UUID())")
        defer { try? Folder.removeTree(at: place) }
        let (inbox, log) = (place.appending("inbox"), place.appending("calls"))
        try FileManager.default.copyItem(atPath: sample.template.string, toPath: inbox.string)
        let rollback = ["rollback", "Recipes", "--into", inbox.string]
        if direction == .forward { try await BuiltProgram.expectSuccess(rollback) }
        let (old, new) = direction == .back ? (2, 1) : (1, 2)
        let step = direction == .back ? rollback : rollback + ["--to", "2"]
        let known = Set(try FileManager.default.subpathsOfDirectory(atPath: place.string).map { "\(place)/\($0)" })
        let comment: Comment = "\(direction) \(action) at \(call)"

        let outcome = try await BuiltProgram.run(step, environment: FaultShim.environment(action, at: call, log: log))
        let calls = FaultShim.calls(in: log)
        let current = ShipmentSample.current(of: inbox)
        #expect([old, new].contains(current), comment)
        sample.expect(inbox, serves: current, comment)
        try await BuiltProgram.expectSuccess(["verify", inbox.string], comment)
        if outcome.status == .exited(0) { #expect(current == new, comment) }
        if calls.count < call {
            // Nothing was in the way: what was done survives a power cut.
            #expect(outcome.status == .exited(0), comment)
            var pending = PendingChanges(known: known.union([place.string]))
            for call in calls { pending.make(call) }
            let store = inbox.appending(".ship-store/Recipes")
            // What was current a moment ago says nothing after a power cut.
            let lost = pending.around([store.string, inbox.appending("Recipes.sqlite").string])
            #expect(lost.filter { !$0.hasSuffix("/left.json") } == [], comment)
        }

        // The store is held exactly where the step was made.
        let list = try await BuiltProgram.expectSuccess(["list", "--into", inbox.string, "--json"], comment)
        #expect(list.stdout.contains("onHoldSince") == (current == 1), comment)
        // The shipment of generation 2 comes in exactly where that is current, and finds itself there.
        let again = try await BuiltProgram.run(
            ["receive", "--into", inbox.string, "--from", sample.shipments[1].string])
        #expect(again.status == .exited(current == 2 ? 0 : 73), "\(comment) \(again.stderr)")
        #expect(ShipmentSample.current(of: inbox) == current, comment)
        #expect(try Folder.names(in: inbox.appending(".ship-store/Recipes/staging")) == [], comment)

        // The next step works, and so does the one after it.
        try await BuiltProgram.expectSuccess(rollback + ["--to", "\(new)"], comment)
        sample.expect(inbox, serves: new, comment)
        try await BuiltProgram.expectSuccess(rollback + ["--to", "\(old)"], comment)
        sample.expect(inbox, serves: old, comment)
        return calls.count >= call
    }
}
