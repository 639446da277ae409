import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// The removal of a store from an inbox dies, or is let down by the system, at every call that changes anything. Whatever
/// happens, the store is there whole or not at all, and the same command does the rest.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct ForgetFaultTests {
    private let sample: ShipmentSample

    init() async throws {
        sample = try await ShipmentSample(in: .inMemory())
        try await BuiltProgram.expectSuccess(
            ["receive", "--into", sample.template.string, "--from", sample.shipments[1].string])
    }

    @Test(arguments: [FaultShim.Action.kill, .eio])
    func `it is all there, or all gone, and the next run does the rest`(action: FaultShim.Action) async throws {
        var call = 1
        while try await round(action, call) { call += 1 }
        #expect(call > 8, "the shim counts almost nothing")
    }

    /// Nothing can be made on it before something has gone.
    @Test func `a full disk is no obstacle`() async throws {
        let log = sample.scratch.path.appending("calls")
        let inbox = sample.template
        let environment = FaultShim.environment(.enospc, at: 1, only: ["mkdir", "mkdirat"], log: log)
        let outcome = try await BuiltProgram.run(
            ["forget", "Recipes", "--into", inbox.string], environment: environment)
        #expect(!FaultShim.calls(in: log).isEmpty)
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(try Folder.names(in: inbox) == [".ship-store"])
        #expect(try Folder.names(in: inbox.appending(".ship-store")) == [".format", ".lock"])
    }

    /// - Returns: Whether there was such a call.
    private func round(_ action: FaultShim.Action, _ call: Int) async throws -> Bool {
        let place = try sample.scratch.folder("\(UUID())")
        defer { try? Folder.removeTree(at: place) }
        let (inbox, log) = (place.appending("inbox"), place.appending("calls"))
        try FileManager.default.copyItem(atPath: sample.template.string, toPath: inbox.string)
        let known = Set(try FileManager.default.subpathsOfDirectory(atPath: place.string).map { "\(place)/\($0)" })
        let forget = ["forget", "Recipes", "--into", inbox.string]
        let comment: Comment = "\(action) at \(call)"

        let outcome = try await BuiltProgram.run(forget, environment: FaultShim.environment(action, at: call, log: log))
        let calls = FaultShim.calls(in: log)
        let store = inbox.appending(".ship-store/Recipes/generations")
        let isThere = (try? PlatformCalls.status(of: store)) != nil
        if isThere {
            // Whole, with its link, and every generation.
            #expect(outcome.status != .exited(0), comment)
            sample.expect(inbox, serves: 2, comment)
            #expect(try Folder.names(in: store).count == 2, comment)
        } else {
            #expect((try? PlatformCalls.statusFollowingLinks(of: inbox.appending("Recipes.sqlite"))) == nil, comment)
        }
        try await BuiltProgram.expectSuccess(["verify", inbox.string], comment)
        if calls.count < call {
            // Nothing was in the way: that it is gone survives a power cut.
            #expect(outcome.status == .exited(0), comment)
            var pending = PendingChanges(known: known.union([place.string]))
            for call in calls { pending.make(call) }
            #expect(pending.around([inbox.string]) == [], comment)
        }

        let again = try await BuiltProgram.run(forget)
        // There is nothing left to forget.
        let isDone = !isThere && again.status == .exited(66)
        #expect(again.status == .exited(0) || isDone, "\(comment) \(again.stderr)")
        #expect(try Folder.names(in: inbox) == [".ship-store"], comment)
        #expect(try Folder.names(in: inbox.appending(".ship-store")) == [".format", ".lock"], comment)
        // The next shipment is a first one.
        try await BuiltProgram.expectSuccess(
            ["receive", "--into", inbox.string, "--from", sample.shipments[0].string], comment)
        sample.expect(inbox, serves: 1, comment)
        return calls.count >= call
    }
}
