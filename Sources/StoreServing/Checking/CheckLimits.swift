public import ShipProtocol

/// Limits on the cost of checking a store, and how far the check goes.
public struct CheckLimits: Hashable, Sendable, Codable {
    /// How long SQLite may take over all of its checks.
    public var time: Duration
    /// Bytes that SQLite may take, and the process that it runs in where that is one of its own. Among an app's other work it is
    /// kept by stages: a row may have an eighth of it, and what SQLite holds is looked at between instructions.
    public var memory: Int64
    /// Stores up to this size, in bytes, pass `integrity_check` too, which compares each index with its table; it takes some
    /// ten times as long as `quick_check`, which all have to pass.
    public var fullCheckSize: Int64

    public init(
        time: Duration = .seconds(120), memory: Int64 = 256 * 1024 * 1024,
        fullCheckSize: Int64 = StoreFacts.fullyCheckedSize
    ) {
        self.time = time
        self.memory = memory
        self.fullCheckSize = fullCheckSize
    }
}
