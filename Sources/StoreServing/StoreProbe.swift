public import ShipProtocol

/// A question to a store that has to be answered with yes before the store becomes current: one statement that only reads,
/// of which the first column of the first row is neither NULL nor 0.
public struct StoreProbe: Hashable, Sendable {
    public let sql: String

    /// Why a text is no such statement.
    public enum Flaw: Error, Hashable, Sendable {
        case empty
        case severalStatements
        /// It would change something.
        case writes
        /// It gives no rows, whatever the store.
        case givesNoRows
        /// Nobody gives it values.
        case hasParameters
        /// What SQLite says of it.
        case syntax(ForeignText)
    }

    /// Checks the text as far as that goes without the store: whether its tables and columns are there is seen later.
    public init(_ sql: String) throws(Flaw) {
        self.sql = sql
        try ProbeSyntax.check(sql)
    }
}

/// A probe that was not answered with yes.
public struct FailedProbe: Error, Hashable, Sendable {
    public let probe: StoreProbe
    public let reason: Reason

    public enum Reason: Hashable, Sendable {
        case noRow
        case isNull
        /// What SQLite counts as false: 0, or a text that does not begin with another number.
        case isZero(ForeignText)
        case tookTooLong(Duration)
        /// What SQLite says: a table that is not there, for instance.
        case failed(ForeignText)
    }
}
