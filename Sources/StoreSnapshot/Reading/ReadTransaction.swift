import GRDB

extension Database {
    /// How often to try to end a transaction: an interruption comes once.
    private static let attempts = 3

    /// Ends the read transaction that is open, if one is.
    ///
    /// It may not stay open, because GRDB then ends the process. An interruption that comes just as the statement begins makes it fail, and
    /// the next one does not [sqlite.org/c3ref/interrupt.html].
    package func endReadTransaction() {
        for _ in 1...Self.attempts where isInsideTransaction { try? execute(sql: "COMMIT") }
    }
}
