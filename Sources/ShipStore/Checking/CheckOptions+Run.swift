import StoreServing
import SystemPackage

extension CheckOptions {
    /// Starts the process in which a store is checked later, where it is to be one of its own: starting takes about as long
    /// as checking a small store.
    ///
    /// - Parameter folder: Where the store is going to be.
    func startChild(in folder: FilePath) -> CheckerChild? {
        switch place {
        case .thisProcess: nil
        case .childProcess(let program): CheckerChild(program, limits, in: folder)
        }
    }

    /// Checks a store whose digest is right: first what parses nothing, here, then what SQLite finds, where that is to be.
    ///
    /// - Parameter child: What `startChild` returned, if it was called already.
    /// - Throws: `StoreCheck.Flaw`, `CancellationError`.
    func check(
        _ path: FilePath, against claims: StoreClaims, in child: CheckerChild? = nil
    ) async throws -> CheckReport {
        let check = StoreCheck(limits: limits)
        guard let child = child ?? startChild(in: path.removingLastComponent()) else {
            return try Self.unlessCancelled { try check.run(on: path, against: claims) }
        }
        do {
            try check.checkHeader(of: path, against: claims)
        } catch {
            await child.end()
            throw error
        }
        return try await child.run(on: path, against: claims)
    }

    /// What SQLite leaves because the task is cancelled is not the store's fault.
    private static func unlessCancelled<Result>(_ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch {
            try Task.checkCancellation()
            throw error
        }
    }
}
