import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Operations on a store of this device die, or are let down by the system, at every call that changes anything. Whatever
/// happens, there is the old state or the new one, whole, with its external files; the same command then does what it was
/// to do, and nothing is left behind.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct OperationFaultTests {
    private let scratch: ScratchFolder
    private let sample: OperationSample

    init() async throws {
        scratch = try .inMemory()
        sample = try await OperationSample(in: scratch)
    }

    @Test(arguments: StoreOperation.allCases)
    func `killed at any call, it leaves the old state or the new one, and can be done again`(
        operation: StoreOperation
    ) async throws {
        // The short form leaves out calls, other ones for each operation.
        let number = StoreOperation.allCases.firstIndex(of: operation) ?? 0
        for (turn, mode) in [JournalMode.wal, .delete].enumerated() {
            let first = Soak.isOn ? 1 : 1 + (number + turn) * 2 % 5
            try await sweep(operation, mode, .kill, .once, from: first, by: Soak.isOn ? 1 : 179)
        }
    }

    @Test func `a restore without a safety copy that is killed leaves no file of the old state once it is done again`()
        async throws
    {
        let calls = ["unlink", "unlinkat", "fdatasync"]
        for mode in [JournalMode.wal, .delete] {
            try await sweep(.restoreWithoutSafetyCopy, mode, .kill, .once, only: calls, from: 1, by: 1)
        }
    }

    @Test(arguments: StoreOperation.allCases)
    func `a call that fails leaves the old state, or the operation succeeds all the same`(
        operation: StoreOperation
    ) async throws {
        let step = Soak.isOn ? 1 : 251
        try await sweep(operation, .wal, .eio, .once, from: 1 % step + 1, by: step)
        try await sweep(operation, .wal, .enospc, .onward, from: 5 % step + 1, by: step)
    }

    @Test(arguments: [[], ["--as", "latest"]])
    func `a copy that is killed leaves no external files without a store once one is taken again`(
        options: [String]
    ) async throws {
        var (call, wasThere, leftAny) = (1, true, false)
        while wasThere {
            let place = try sample.newPlace(for: .copyAs)
            defer { try? Folder.removeTree(at: place.path) }
            let copies = place.desk.appending("new")
            let other = copies.appending(".Other_SUPPORT")
            try Folder.make(other)
            let log = place.path.appending("calls")
            let calls = ["rename", "renameat", "renameat2", "link", "linkat"]
            func lonely() throws -> [String] {
                let names = try Folder.names(in: copies)
                return names.filter { $0.hasSuffix("_SUPPORT") }.filter {
                    !names.contains("\($0.dropFirst().dropLast("_SUPPORT".count)).sqlite")
                }
            }
            _ = try await BuiltProgram.run(
                ["copy", "Photos.sqlite", "--to", "new"],
                environment: FaultShim.environment(.kill, at: call, only: calls, log: log)
                    .merging(place.environment) { $1 }, in: place.desk)
            leftAny = try lonely().count > 1 || leftAny
            try await BuiltProgram.expectSuccess(
                ["copy", "Photos.sqlite", "--to", "new"] + options, environment: place.environment, in: place.desk,
                "call \(call)")
            // What somebody else has put there stays.
            #expect(try lonely() == [".Other_SUPPORT"], "call \(call)")
            wasThere = FaultShim.calls(in: log).count >= call
            call += 1
        }
        #expect(leftAny, "the shim counts none of the calls that matter")
    }

    @Test func `an update that is killed before any new name is done again`() async throws {
        var (call, wasThere) = (1, true)
        while wasThere {
            let place = try sample.newPlace(for: .update)
            defer { try? Folder.removeTree(at: place.path) }
            let (log, update) = (place.path.appending("calls"), sample.arguments(.update))
            let calls = ["rename", "renameat", "renameat2", "link", "linkat"]
            _ = try await BuiltProgram.run(
                update,
                environment: FaultShim.environment(.kill, at: call, only: calls, log: log)
                    .merging(place.environment) { $1 }, in: place.desk)
            try await BuiltProgram.expectSuccess(update, environment: place.environment, in: place.desk, "call \(call)")
            try sample.expectNew(.update, in: place, "call \(call)")
            wasThere = FaultShim.calls(in: log).count >= call
            call += 1
        }
        #expect(call > 3, "the shim counts none of the calls that matter")
    }

    @Test func `an update that goes on after a failed sync leaves no second name of the older copy`() async throws {
        var (number, isOver, wentOn) = (1, false, false)
        while !isOver {
            let place = try sample.newPlace(for: .update)
            defer { try? Folder.removeTree(at: place.path) }
            let log = place.path.appending("calls")
            let outcome = try await BuiltProgram.run(
                sample.arguments(.update),
                environment: FaultShim.environment(.eio, at: number, only: ["fsync", "fdatasync"], log: log)
                    .merging(place.environment) { $1 }, in: place.desk)
            let syncs = FaultShim.calls(in: log).map(\.path)
            isOver = syncs.count < number
            if outcome.status == .exited(0) {
                let names = try Folder.names(in: place.desk.appending("copies"))
                #expect(names == [".latest_SUPPORT", "latest.sqlite"], "sync \(number)")
                if !isOver { wentOn = syncs[number - 1].contains(".ship-store-removal-") || wentOn }
            }
            number += 1
        }
        #expect(wentOn, "the shim counts none of the syncs that matter")
    }

    /// The other modes are those of a connection, and matter where one writes to the store.
    private static let cases = StoreOperation.allCases.flatMap { operation in
        let isWritten = [.restore, .restoreWithoutSafetyCopy, .metadata].contains(operation)
        return (isWritten || Soak.isOn ? JournalMode.allCases : [.wal, .delete]).map { (operation, $0) }
    }

    @Test(arguments: cases)
    func `what was acknowledged survives a power cut`(operation: StoreOperation, mode: JournalMode) async throws {
        let place = try sample.newPlace(for: operation, mode)
        defer { try? Folder.removeTree(at: place.path) }
        let disk = try CutDisk(of: place.desk, keepingIn: try scratch.folder("\(UUID())"))
        try await BuiltProgram.expectSuccess(
            sample.arguments(operation),
            environment: FaultShim.environment(log: place.path.appending("calls"), keepingIn: disk.kept)
                .merging(place.environment) { $1 },
            in: place.desk, "\(operation) \(mode)")
        try expectNew(operation, on: disk, "\(operation) in mode \(mode.rawValue)")
    }

    /// The test of the test: without a sync that matters, something is lost.
    @Test func `a sync that is left out is noticed`() async throws {
        for (operation, mode, path) in [
            (StoreOperation.restore, JournalMode.delete, "/Photos.sqlite"),
            (.metadata, .delete, "/desk"),
            (.copyAs, .wal, "/new/copies"), (.restoreLost, .wal, "/desk"), (.destroy, .wal, "/desk"),
        ] {
            let syncs = try await round(operation, mode, leavingOut: nil).syncs
            var noticed = false
            for (index, sync) in syncs.enumerated() where sync.hasSuffix(path) {
                noticed = try await round(operation, mode, leavingOut: index + 1).isLost || noticed
            }
            #expect(noticed, "\(operation) in mode \(mode.rawValue), the sync of \(path)")
        }
    }

    /// - Returns: What is synced, and whether a power cut after it may take what was acknowledged.
    private func round(
        _ operation: StoreOperation, _ mode: JournalMode, leavingOut number: Int?
    ) async throws -> (syncs: [String], isLost: Bool) {
        let place = try sample.newPlace(for: operation, mode)
        defer { try? Folder.removeTree(at: place.path) }
        let disk = try CutDisk(of: place.desk, keepingIn: try scratch.folder("\(UUID())"))
        let log = place.path.appending("calls")
        let faults = FaultShim.environment(
            number.map { _ in .skip }, at: number ?? 0, only: ["fsync", "fdatasync"], log: log, keepingIn: disk.kept)
        try await BuiltProgram.expectSuccess(
            sample.arguments(operation), environment: faults.merging(place.environment) { $1 }, in: place.desk,
            "\(operation)")
        var isLost = false
        for loss in CutDisk.Loss.all(mixtures: 0, from: 0) where !isLost {
            let image = place.path.appending("\(UUID())")
            try disk.make(image, losing: loss)
            isLost = try sample.isLost(operation, at: image)
        }
        return (FaultShim.calls(in: log).map(\.path), isLost)
    }

    private func expectNew(_ operation: StoreOperation, on disk: CutDisk, _ comment: Comment) throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        for loss in CutDisk.Loss.all(mixtures: Soak.isOn ? 20 : 1, from: seed) {
            let image = scratch.path.appending("\(UUID())")
            defer { try? Folder.removeTree(at: image) }
            try disk.make(image, losing: loss)
            try sample.expectNew(operation, at: image, "\(comment): \(loss)")
        }
    }

    private func sweep(
        _ operation: StoreOperation, _ mode: JournalMode, _ action: FaultShim.Action, _ extent: FaultShim.Extent,
        only names: [String] = [], from first: Int, by step: Int
    ) async throws {
        var call = first
        while try await round(operation, mode, action, extent, only: names, call) { call += step }
        #expect(call > 4, "the shim counts almost nothing")
    }

    /// - Returns: Whether there was such a call.
    private func round(
        _ operation: StoreOperation, _ mode: JournalMode, _ action: FaultShim.Action, _ extent: FaultShim.Extent,
        only names: [String], _ call: Int
    ) async throws -> Bool {
        let place = try sample.newPlace(for: operation, mode)
        defer { try? Folder.removeTree(at: place.path) }
        let disk = try CutDisk(of: place.desk, keepingIn: place.path.appending("kept"))
        try PlatformCalls.makeFolder(disk.kept)
        let log = place.path.appending("calls")
        let comment: Comment = "\(operation) in mode \(mode.rawValue), \(action)\(extent.rawValue) at call \(call)"
        let outcome = try await BuiltProgram.run(
            sample.arguments(operation),
            environment: FaultShim.environment(action, at: call, extent, only: names, log: log, keepingIn: disk.kept)
                .merging(place.environment) { $1 },
            in: place.desk)
        if action != .kill {
            #expect([.exited(0), .exited(73), .exited(74)].contains(outcome.status), "\(comment) \(outcome)")
        }
        try sample.expectOldOrNew(operation, in: place, succeeded: outcome.status == .exited(0), comment)

        let again = try await BuiltProgram.run(
            sample.arguments(operation),
            environment: FaultShim.environment(log: place.path.appending("calls again"), keepingIn: disk.kept)
                .merging(place.environment) { $1 },
            in: place.desk)
        // There is nothing left to move or to destroy.
        let isDone = operation.removes && again.status == .exited(66)
        #expect(again.status == .exited(0) || isDone, "\(comment) \(outcome.stderr) \(again.stderr)")
        // Also what the first run has done, and the second one has found.
        try expectNew(operation, on: disk, "\(comment), and again")
        try sample.expectNew(operation, in: place, comment)
        return FaultShim.calls(in: log).count >= call
    }
}
