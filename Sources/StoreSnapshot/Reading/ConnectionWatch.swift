import GRDB
import GRDBSQLite
import StoreFiles
import SystemPackage

/// The callbacks of SQLite on one connection: progress handler and busy handler.
final class ConnectionWatch: Sendable {
    let interruption: Interruption
    let busyTimeout: Duration
    /// A connection that keeps all others out of the store: then the store has to be read through it.
    let held: DatabaseQueue?
    /// Bytes that stay free on the disk that is written to; `nil` where the caller has reserved the space.
    let keptFree: Int64?
    /// A copy of the store that was taken before; `nil` for none.
    let earlierCopy: FilePath?
    let turn: SnapshotTurn
    private let wait = BusyWait()

    /// Virtual machine instructions between two checks of the interruption: well under a millisecond.
    private static let instructions: CInt = 1000

    init(
        interruption: Interruption, busyTimeout: Duration, held: DatabaseQueue? = nil, keptFree: Int64? = 0,
        earlierCopy: FilePath? = nil, turn: SnapshotTurn = .free
    ) {
        self.earlierCopy = earlierCopy
        self.turn = turn
        self.interruption = interruption
        self.busyTimeout = busyTimeout
        self.held = held
        self.keptFree = keptFree
    }

    /// The configuration of a connection that this object watches for as long as the connection is open.
    func configuration(mayWrite: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = !mayWrite
        configuration.foreignKeysEnabled = false
        // VACUUM INTO executes the schema's statements again, and in many schemas strings stand in double quotes
        // [sqlite.org/quirks.html#dblquote].
        configuration.acceptsDoubleQuotedStringLiterals = true
        configuration.busyMode = .callback { tries in
            !self.interruption.isCancelled && self.wait.goesOn(tries: tries, within: self.busyTimeout)
        }
        configuration.prepareDatabase { database in
            // The configuration retains this object for as long as the connection lives.
            let context = Unmanaged.passUnretained(self).toOpaque()
            // sqlite3_interrupt alone would be lost between two statements [sqlite.org/c3ref/interrupt.html].
            sqlite3_progress_handler(
                database.sqliteConnection, Self.instructions,
                { ConnectionWatch.at($0)?.interruption.isCancelled == true ? 1 : 0 }, context)
        }
        return configuration
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> ConnectionWatch? {
        context.map { Unmanaged<ConnectionWatch>.fromOpaque($0).takeUnretainedValue() }
    }
}
