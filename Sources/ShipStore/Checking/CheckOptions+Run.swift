import StoreServing
import SystemPackage

extension CheckOptions {
    /// Starts what checks a store later, where that is somewhere else: starting a process takes about as long as checking a small
    /// store.
    ///
    /// - Parameter folder: Where the store is going to be.
    func startChecker(in folder: FilePath) -> (any StartedChecker)? { place.starter?.start(limits, in: folder) }

    /// Checks a store whose digest is right: first what parses nothing, here, then what SQLite finds, where that is to be.
    ///
    /// - Parameter checker: What `startChecker` returned, if it was called already.
    /// - Throws: `StoreCheck.Flaw`, `CancellationError`.
    func check(
        _ path: FilePath, against claims: StoreClaims, by checker: (any StartedChecker)? = nil
    ) async throws -> CheckReport {
        let check = StoreCheck(limits: limits)
        guard let checker = checker ?? startChecker(in: path.removingLastComponent()) else {
            return try Self.unlessCancelled { try check.run(on: path, against: claims) }
        }
        do {
            try check.checkHeader(of: path, against: claims)
        } catch {
            await checker.end()
            throw error
        }
        return try await checker.run(on: path, against: claims)
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
