public import ShipProtocol

/// A probe that was not answered with yes.
public struct FailedProbe: Error, Hashable, Sendable {
    public let probe: StoreProbe
    public let reason: Reason

    public enum Reason: Hashable, Sendable {
        case noRow
        case isNull
        /// A value that SQLite counts as false: 0, or a text that does not begin with another number.
        case isZero(ForeignText)
        case tookTooLong(Duration)
        /// SQLite's words: a table that is not there, for instance.
        case failed(ForeignText)
    }
}
