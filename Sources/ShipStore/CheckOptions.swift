public import StoreServing
import SystemPackage

/// How the stores of shipments are checked before they become current.
public struct CheckOptions: Hashable, Sendable {
    public var limits = CheckLimits()
    public var place = Place.thisProcess

    /// Where SQLite opens a store that may be hostile.
    public struct Place: Hashable, Sendable {
        /// In this process, as on platforms that start no others. `Protocol/SECURITY.md` section 4 says what that does not protect from.
        public static let thisProcess = Place(starter: nil)

        /// Starts another process; `nil` for this one.
        let starter: (any CheckerStarter)?

        private init(starter: (any CheckerStarter)?) { self.starter = starter }

        package init(_ starter: some CheckerStarter) { self.init(starter: starter) }

        public static func == (one: Place, other: Place) -> Bool { one.key == other.key }
        public func hash(into hasher: inout Hasher) { hasher.combine(key) }

        private var key: AnyHashable? { starter.map { AnyHashable($0) } }
    }

    public init() {}
}

extension CheckOptions {
    /// Starts the process that checks a store later, if there is to be one: to start it takes about as long as to check a small store.
    ///
    /// - Parameter folder: Where the store is going to be.
    /// - Returns: `nil` if this process checks.
    func startChecker(in folder: FilePath) -> (any StartedChecker)? { place.starter?.start(limits, in: folder) }

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
