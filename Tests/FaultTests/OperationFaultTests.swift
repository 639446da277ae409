import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Operations on a store of this device die, or are let down by the system, at every call that changes anything. Whatever
/// happens, there is the old state or the new one, whole, with its external files; the same command then does what it was
/// to do, and nothing is left behind.
@Suite(.enabled("cc or LD_PRELOAD is missing") { await FaultShim.isAvailable() })
struct OperationFaultTests {
    enum Operation: String, CaseIterable, Sendable {
        case update, keep, restore, restoreRollback, move, destroy
    }

    private let scratch: ScratchFolder
    private let shim: FaultShim
    private let sample: OperationSample

    init() async throws {
        scratch = try .inMemory()
        shim = try await FaultShim(in: scratch.path)
        sample = try await OperationSample(in: scratch)
    }

    @Test(arguments: Operation.allCases)
    func `killed at any call, it leaves the old state or the new one, and can be done again`(
        operation: Operation
    ) async throws {
        // The short form leaves out calls, other ones for each operation.
        let first = Soak.isOn ? 1 : 1 + (Operation.allCases.firstIndex(of: operation) ?? 0) * 2
        try await sweep(operation, .kill, .once, from: first, by: Soak.isOn ? 1 : 11)
    }

    @Test(arguments: Operation.allCases)
    func `a call that fails leaves the old state, or the operation succeeds all the same`(
        operation: Operation
    ) async throws {
        let step = Soak.isOn ? 1 : 37
        try await sweep(operation, .eio, .once, from: 1 % step + 1, by: step)
        try await sweep(operation, .enospc, .onward, from: 5 % step + 1, by: step)
    }

    private func sweep(
        _ operation: Operation, _ action: FaultShim.Action, _ extent: FaultShim.Extent, from first: Int, by step: Int
    ) async throws {
        var call = first
        while try await round(operation, action, extent, call) { call += step }
        #expect(call > 15, "the shim counts almost nothing")
    }

    /// - Returns: Whether there was such a call.
    private func round(
        _ operation: Operation, _ action: FaultShim.Action, _ extent: FaultShim.Extent, _ call: Int
    ) async throws -> Bool {
        let place = try sample.newPlace(for: operation)
        defer { try? Folder.removeTree(at: place.path) }
        let log = place.path.appending("calls")
        let comment: Comment = "\(operation) \(action)\(extent.rawValue) at call \(call)"
        let outcome = try await BuiltProgram.run(
            sample.arguments(operation),
            environment: shim.environment(action, at: call, extent, log: log).merging(place.environment) { $1 },
            in: place.desk)
        if action != .kill {
            #expect([.exited(0), .exited(73), .exited(74)].contains(outcome.status), "\(comment) \(outcome)")
        }
        try sample.expectOldOrNew(operation, in: place, succeeded: outcome.status == .exited(0), comment)

        let again = try await BuiltProgram.run(
            sample.arguments(operation), environment: place.environment, in: place.desk)
        // There is nothing left to move or to destroy.
        let isDone = [.destroy, .move].contains(operation) && again.status == .exited(66)
        #expect(again.status == .exited(0) || isDone, "\(comment) \(outcome.stderr) \(again.stderr)")
        try sample.expectNew(operation, in: place, comment)
        return FaultShim.calls(in: log).count >= call
    }
}
