/// An error of the system, which says nothing of the store that was read: the next attempt may succeed. Everything that is done to a store
/// because it is damaged waits for a proof.
package enum SystemFault {
    /// Whether a result of SQLite tells of one: out of memory, an error of input or output, a full disk, a file that cannot be opened, a
    /// file that is too large for the system.
    ///
    /// - Parameter code: The extended result code; the low byte is the primary one [sqlite.org/rescode.html].
    package static func isTold(by code: Int32) -> Bool { code != shortRead && primary.contains(code & 0xff) }

    /// `SQLITE_NOMEM`, `SQLITE_IOERR`, `SQLITE_FULL`, `SQLITE_CANTOPEN`, `SQLITE_NOLFS`.
    private static let primary: Set<Int32> = [7, 10, 13, 14, 22]
    /// `SQLITE_IOERR_SHORT_READ`: the file ends before its pages do.
    private static let shortRead: Int32 = 522
}
