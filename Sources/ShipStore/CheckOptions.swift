public import StoreServing
package import SystemPackage

/// How the stores of shipments are checked before they become current.
public struct CheckOptions: Hashable, Sendable {
    public var limits = CheckLimits()
    public var place = Place.thisProcess

    /// Where SQLite opens a store that may be hostile.
    public struct Place: Hashable, Sendable {
        /// In this process, as on platforms that start no others. `Protocol/SECURITY.md` section 4 says what that does not protect from.
        public static let thisProcess = Place(program: nil, start: nil)

        /// Of another process; `nil` for this one.
        private let program: FilePath?
        /// Starts that process for one store, which is going to be in a folder.
        fileprivate let start: (@Sendable (CheckLimits, _ folder: FilePath) -> any StartedChecker)?

        package init(
            program: FilePath?, start: (@Sendable (CheckLimits, _ folder: FilePath) -> any StartedChecker)?
        ) { (self.program, self.start) = (program, start) }

        public static func == (one: Place, other: Place) -> Bool { one.program == other.program }
        public func hash(into hasher: inout Hasher) { hasher.combine(program) }
    }

    public init() {}
}

extension CheckOptions {
    /// Starts the process that checks a store later, if there is to be one: to start it takes about as long as to check a small store.
    ///
    /// - Parameter folder: Where the store is going to be.
    /// - Returns: `nil` if this process checks.
    func startChecker(in folder: FilePath) -> (any StartedChecker)? { place.start?(limits, folder) }

    /// Checks a store whose digest is right: first its header, in this process, then what SQLite finds, in the process for that.
    ///
    /// - Parameter checker: The result of `startChecker`, if that was called already.
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

    /// A check that SQLite interrupts because the task is cancelled says nothing of the store.
    private static func unlessCancelled<Result>(_ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch {
            try Task.checkCancellation()
            throw error
        }
    }
}
