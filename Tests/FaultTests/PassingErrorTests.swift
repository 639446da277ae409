import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// The system fails once at a call that only looks at something: a file, a folder, or what is in them. That proves nothing of what is there,
/// neither that it is absent nor that it is damaged. So the operation is refused, or does all that it was to do, and says so only then.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct PassingErrorTests {
    private let scratch: ScratchFolder
    private let sample: OperationSample

    private static let looks = ["open-read", "read", "pread", "stat", "lstat", "fstatat", "readdir", "fdopendir"]

    init() async throws {
        scratch = try .inMemory()
        sample = try await OperationSample(in: scratch)
    }

    @Test(arguments: StoreOperation.allCases)
    func `a look that fails once proves nothing`(operation: StoreOperation) async throws {
        // The short form leaves out calls, other ones for each operation.
        let number = StoreOperation.allCases.firstIndex(of: operation) ?? 0
        let step = Soak.isOn ? 1 : 199
        var call = 1 + number * 7 % step
        while try await round(operation, call) { call += step }
        #expect(call > 40, "the shim counts almost nothing")
    }

    /// Each page of the working files of a copy: SQLite calls a page damaged that it could not read.
    @Test(arguments: [StoreOperation.moveReplacing, .restore])
    func `a page of a copy that cannot be read makes no store damaged`(operation: StoreOperation) async throws {
        let calls = try await calls(of: operation)
        let pages = calls.indices.filter {
            ["vacuumed.sqlite", "copy.sqlite"].contains(FilePath(calls[$0].path).lastComponent?.string)
        }
        #expect(pages.count > 10)
        for call in pages { _ = try await round(operation, call + 1, only: ["pread"]) }
    }

    private func calls(of operation: StoreOperation) async throws -> [FaultShim.Call] {
        let place = try sample.newPlace(for: operation)
        defer { try? Folder.removeTree(at: place.path) }
        let log = place.path.appending("calls")
        try await BuiltProgram.expectSuccess(
            sample.arguments(operation),
            environment: FaultShim.environment(only: ["pread"], log: log).merging(place.environment) { $1 },
            in: place.desk)
        return FaultShim.calls(in: log)
    }

    /// - Returns: Whether there was such a call.
    private func round(
        _ operation: StoreOperation, _ call: Int, only looks: [String] = PassingErrorTests.looks
    ) async throws -> Bool {
        let place = try sample.newPlace(for: operation)
        defer { try? Folder.removeTree(at: place.path) }
        let log = place.path.appending("calls")
        let outcome = try await BuiltProgram.run(
            sample.arguments(operation),
            environment: FaultShim.environment(.eio, at: call, only: looks, log: log)
                .merging(place.environment) { $1 },
            in: place.desk)
        let calls = FaultShim.calls(in: log)
        let comment: Comment =
            "\(operation), \(call): \(calls.count < call ? "-" : "\(calls[call - 1])"), \(outcome.status) \(outcome.stderr)"
        let isDone = outcome.status == .exited(0)
        let isTold = ["Input/output error", "disk I/O error", "unable to open database file", "errno 5"].contains {
            outcome.stderr.contains($0)
        }
        #expect(isDone || isTold && outcome.status != .exited(70), comment)
        try sample.expectOldOrNew(operation, in: place, succeeded: isDone, comment)
        let again = try await BuiltProgram.run(
            sample.arguments(operation), environment: place.environment, in: place.desk)
        // There is nothing left to move or to destroy.
        let wasDone = operation.removes && again.status == .exited(66)
        #expect(again.status == .exited(0) || wasDone, "\(comment) \(again.stderr)")
        try sample.expectNew(operation, in: place, comment)
        let names = try Folder.names(in: place.desk)
        let isAside = names.contains { $0.contains(".damaged-") }
        #expect(isAside == (operation == .restoreDamaged), "\(comment) \(names)")
        return calls.count >= call
    }
}
