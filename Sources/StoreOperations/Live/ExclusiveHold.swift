import GRDB
import StoreFiles

/// Exclusive use of a store, for as long as this value lives: the store can be copied to its last commit, and removed.
package struct ExclusiveHold: ~Copyable, Sendable {
    /// Through which the store is read meanwhile.
    package let connection: LiveConnection
    private let home: StoreHome

    /// Waits until no other connection has the store open in WAL mode, or reads or writes it in another mode.
    ///
    /// - Throws: `.inUse`, and what opening a store may throw.
    package init(on home: StoreHome, _ busyHandler: BusyHandler) throws(OperationError) {
        self.home = home
        connection = try LiveConnection(to: home.path, exclusively: true, busyHandler)
    }

    /// Whether the file may change: where it has another name, whose users may have their log there, it does so only for the commits in the log
    /// beside this name.
    private var changesFile: Bool {
        let links = (try? PlatformCalls.status(of: home.path).links) ?? 1
        return links == 1 || (try? PlatformCalls.status(of: home.log).size) ?? 0 > 0
    }

    /// Moves the store out of sight, where `removal` finds it.
    ///
    /// Before that it leaves WAL mode: then the file alone holds every commit, whatever goes first, and a writer
    /// that has opened the file and waits for its lock is told so [pager.c, databaseIsUnmoved], instead of committing to a
    /// file without a name. A kill at any point leaves the store whole, or out of sight.
    ///
    /// - Parameter target: Where it has been moved to; `nil` if it has not.
    /// - Throws: `.busy`, `.file`; the store is as it was unless it is gone.
    package func begin(_ removal: StoreRemoval, after target: StoreHome? = nil) throws(OperationError) {
        try OperationError.wrapping { () throws(FileError) in try removal.prepare() }
        var mode: String?
        do throws(OperationError) {
            do throws(OperationError) {
                if changesFile {
                    mode = try connection.run { try String.fetchOne($0, sql: "PRAGMA main.journal_mode") }
                    // In the mode DELETE the connection would remove a journal of that name when it is closed: it may be of a new store by then.
                    try connection.run { try $0.execute(sql: "PRAGMA main.journal_mode = TRUNCATE") }
                }
            } catch {
                // Nothing of a damaged store can be saved, and it may be removed all the same.
                guard error.isDamage else { throw error }
            }
            try OperationError.wrapping { () throws(FileError) in try removal.begin(after: target) }
        } catch {
            removal.cancel()
            if mode == "wal", (try? PlatformCalls.isThere(home.path)) == true {
                // By way of DELETE, which removes the journal.
                for mode in ["DELETE", "WAL"] {
                    try? connection.run { try $0.execute(sql: "PRAGMA main.journal_mode = \(mode)") }
                }
            }
            throw error
        }
    }
}
