public import StoreServing
package import SystemPackage

/// How the stores of shipments are checked before anybody reads them.
public struct CheckOptions: Hashable, Sendable {
    public var limits = CheckLimits()
    public var place = Place.thisProcess

    /// Where SQLite meets a store that nobody vouches for.
    public struct Place: Hashable, Sendable {
        /// Here, as where there are no other processes. `Protocol/SECURITY.md` section 4 says what that does not protect from.
        public static let thisProcess = Place(starter: nil)

        /// What starts another place; `nil` for none.
        let starter: (any CheckerStarter)?

        private init(starter: (any CheckerStarter)?) { self.starter = starter }

        package init(_ starter: some CheckerStarter) { self.init(starter: starter) }

        public static func == (one: Place, other: Place) -> Bool { one.key == other.key }
        public func hash(into hasher: inout Hasher) { hasher.combine(key) }

        private var key: AnyHashable? { starter.map { AnyHashable($0) } }
    }

    public init() {}
}

/// Starts what checks one store somewhere else.
package protocol CheckerStarter: Hashable, Sendable {
    /// - Parameter folder: Where the store is going to be.
    func start(_ limits: CheckLimits, in folder: FilePath) -> any StartedChecker
}

/// What waits to check one store somewhere else.
package protocol StartedChecker: AnyObject {
    /// Checks the store. Called once.
    ///
    /// - Throws: `StoreCheck.Flaw`, `CancellationError`.
    func run(on path: FilePath, against claims: StoreClaims) async throws -> CheckReport

    /// Ends it, if it still runs, and waits for its end.
    func end() async
}
