import GRDB
import GRDBSQLite
import StoreFiles
import Synchronization

/// What SQLite asks while it works on one connection: whether to go on, whether to wait for a lock, and for collations.
final class ConnectionWatch: Sendable {
    let interruption: Interruption
    let busyTimeout: Duration
    /// A connection that keeps everybody else out of the store, through which it has to be read then.
    let held: DatabaseQueue?
    /// Bytes that what is written leaves free on its disk; `nil` where somebody else has seen to that.
    let keptFree: Int64?
    let turn: SnapshotTurn
    private let waitingSince = Mutex<ContinuousClock.Instant?>(nil)
    private let collation = Mutex<String?>(nil)

    /// Virtual machine instructions between two looks at the interruption: well under a millisecond.
    private static let instructions: CInt = 1000

    init(
        interruption: Interruption, busyTimeout: Duration, held: DatabaseQueue? = nil, keptFree: Int64? = 0,
        turn: SnapshotTurn = .free
    ) {
        self.turn = turn
        self.interruption = interruption
        self.busyTimeout = busyTimeout
        self.held = held
        self.keptFree = keptFree
    }

    /// The last collation that SQLite did not know.
    var neededCollation: String? { collation.withLock { $0 } }

    /// A connection that this watches for as long as it is open.
    func configuration(for purpose: WatchedConnection.Purpose) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = purpose == .read
        configuration.foreignKeysEnabled = false
        // VACUUM INTO executes the schema's statements anew, and many a schema was written when a text in double quotes
        // passed for a string [sqlite.org/quirks.html#dblquote].
        configuration.acceptsDoubleQuotedStringLiterals = true
        configuration.busyMode = .callback { tries in self.waits(tries: tries) }
        configuration.prepareDatabase { database in
            // The configuration retains this object for as long as the connection lives.
            let context = Unmanaged.passUnretained(self).toOpaque()
            // sqlite3_interrupt alone would be lost between two statements [sqlite.org/c3ref/interrupt.html].
            sqlite3_progress_handler(
                database.sqliteConnection, Self.instructions,
                { ConnectionWatch.at($0)?.interruption.isCancelled == true ? 1 : 0 }, context)
            sqlite3_collation_needed(
                database.sqliteConnection, context,
                { context, _, _, name in
                    guard let name else { return }
                    ConnectionWatch.at(context)?.collation.withLock { $0 = String(cString: name) }
                })
        }
        return configuration
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> ConnectionWatch? {
        context.map { Unmanaged<ConnectionWatch>.fromOpaque($0).takeUnretainedValue() }
    }

    /// SQLite's own busy timeout cannot be cancelled; this is the same with the interruption in it.
    ///
    /// - Returns: Whether to try for the lock again.
    private func waits(tries: Int) -> Bool {
        let now = ContinuousClock.now
        let start = waitingSince.withLock { since in
            if tries == 0 { since = now }
            return since ?? now
        }
        guard !interruption.isCancelled, now - start < busyTimeout else { return false }
        PlatformCalls.pause(min(.milliseconds(tries + 1), .milliseconds(25)))
        return true
    }
}
