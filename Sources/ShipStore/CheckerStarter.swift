package import StoreServing
package import SystemPackage

/// Starts a process that checks one store.
package protocol CheckerStarter: Hashable, Sendable {
    /// - Parameter folder: Where the store is going to be.
    func start(_ limits: CheckLimits, in folder: FilePath) -> any StartedChecker
}
