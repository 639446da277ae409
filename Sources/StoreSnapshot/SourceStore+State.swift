import GRDB
import GRDBSQLite

extension SourceStore {
    /// Longest time to wait for a connection that keeps all others out.
    private static let stateTimeout = Duration.milliseconds(250)

    /// The present state of the store, which does not change by this.
    ///
    /// - Returns: `nil` where that cannot be told.
    /// - Throws: `.cancelled`, and nothing else.
    package func state() async throws(SnapshotError) -> StoreState? {
        guard held == nil else { return nil }
        return try await Interruption.run { interruption throws(SnapshotError) in
            let sidecars = Sidecars(beside: path)
            defer { Sidecars.restore(sidecars, beside: path) }
            return try state(beside: sidecars, interruption)
        }
    }

    /// Whether the log has a commit that a look would not see, as its writer waits for the disk. Nothing tells when a look would.
    ///
    /// - Throws: `.cancelled`, and nothing else.
    package func hasCommitUnderWay() async throws(SnapshotError) -> Bool {
        guard held == nil else { return false }
        return try await Interruption.run { interruption throws(SnapshotError) in
            let sidecars = Sidecars(beside: path)
            guard sidecars.logHasFrames else { return false }
            defer { Sidecars.restore(sidecars, beside: path) }
            return try hasCommitUnderWay(beside: sidecars, interruption)
        }
    }

    /// Closes its connection before it returns.
    private func hasCommitUnderWay(
        beside sidecars: Sidecars, _ interruption: Interruption
    ) throws(SnapshotError) -> Bool {
        guard let connection = try stateConnection(beside: sidecars, interruption) else { return false }
        do throws(SnapshotError) {
            return try connection.read { database in
                // The first transaction makes the index.
                _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
                guard let log = try LogState(of: database), log.isMade,
                    let file = SnapshotPages.file(SQLITE_FCNTL_JOURNAL_POINTER, of: database)
                else { return false }
                return log.isFollowedByCommit(in: file)
            }
        } catch {
            guard error != .cancelled else { throw error }
            return false
        }
    }

    /// Closes its connection before it returns.
    private func state(beside sidecars: Sidecars, _ interruption: Interruption) throws(SnapshotError) -> StoreState? {
        guard let connection = try stateConnection(beside: sidecars, interruption) else { return nil }
        return try state(through: connection, interruption)
    }

    /// Runs `body`, and tells in what state the store was before it, if it is in the same state after it.
    ///
    /// One connection looks at both times, and stays open in between: the first connection to a store in WAL mode makes the log and
    /// the log's index, and the last one removes them.
    ///
    /// - Returns: As `state` `nil` where it changed, or cannot be told.
    /// - Throws: What `body` throws, and `.cancelled`.
    func whileUnchanged<Value>(
        _ interruption: Interruption, _ body: () throws(SnapshotError) -> Value
    ) throws(SnapshotError) -> (value: Value, state: StoreState?) {
        guard held == nil else { return (try body(), nil) }
        let sidecars = Sidecars(beside: path)
        defer { Sidecars.restore(sidecars, beside: path) }
        return try whileUnchanged(beside: sidecars, interruption, body)
    }

    /// Closes its connection before it returns.
    private func whileUnchanged<Value>(
        beside sidecars: Sidecars, _ interruption: Interruption, _ body: () throws(SnapshotError) -> Value
    ) throws(SnapshotError) -> (value: Value, state: StoreState?) {
        if let connection = try stateConnection(beside: sidecars, interruption) {
            if let before = try state(through: connection, interruption) {
                let value = try body()
                let isUnchanged = try state(through: connection, interruption) == before
                return (value, isUnchanged ? before : nil)
            }
        }
        return (try body(), nil)
    }

    /// - Returns: `nil` where the store is not read beside others, or cannot be opened.
    private func stateConnection(
        beside sidecars: Sidecars, _ interruption: Interruption
    ) throws(SnapshotError) -> WatchedConnection? {
        let watch = ConnectionWatch(interruption: interruption, busyTimeout: min(busyTimeout, Self.stateTimeout))
        do throws(SnapshotError) {
            let access = try SourceAccess(to: path, sidecars: sidecars)
            guard case .locking = access else { return nil }
            return try WatchedConnection(address: access.address(of: path), of: path, watch: watch)
        } catch {
            guard error != .cancelled else { throw error }
            return nil
        }
    }

    private func state(
        through connection: borrowing WatchedConnection, _ interruption: Interruption
    ) throws(SnapshotError) -> StoreState? {
        do throws(SnapshotError) {
            return try connection.read { try StoreState(of: $0, at: path, interruption) }
        } catch {
            guard error != .cancelled else { throw error }
            return nil
        }
    }
}
