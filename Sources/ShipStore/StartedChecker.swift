package import StoreServing
package import SystemPackage

/// A process that waits to check one store.
package protocol StartedChecker: AnyObject, Sendable {
    /// Checks the store. Called once.
    ///
    /// - Throws: `StoreCheck.Flaw`, `CancellationError`.
    func run(on path: FilePath, against claims: StoreClaims) async throws -> CheckReport

    /// Ends the process, if it still runs, and waits for its end.
    func end() async
}
