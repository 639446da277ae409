import GRDB
import GRDBSQLite
import ShipProtocol
import StoreFiles
package import SystemPackage

/// Asks a store that has passed its check, before anybody reads it.
package struct ProbeRun: Sendable {
    /// How long SQLite may take over one probe.
    package static let standardDeadline = Duration.seconds(60)

    private let probes: [StoreProbe]
    private let deadline: Duration

    package init(_ probes: [StoreProbe], deadline: Duration = standardDeadline) {
        self.probes = probes
        self.deadline = deadline
    }

    /// - Parameters:
    ///   - path: The store: read-only, immutable, hardened.
    ///   - size: Of the file, in bytes.
    package func run(on path: FilePath, size: Int64) throws(FailedProbe) {
        for probe in probes {
            if let reason = failure(of: probe, path, size) { throw FailedProbe(probe: probe, reason: reason) }
        }
    }

    /// Each has a connection of its own: what one sets, the next does not see.
    private func failure(of probe: StoreProbe, _ path: FilePath, _ size: Int64) -> FailedProbe.Reason? {
        do {
            let queue = try DatabaseQueue(
                path: StoreAddress.of(path),
                configuration: HardenedConfiguration.make(trust: .checked, longestValue: size))
            return try queue.unsafeRead { database in
                try CheckDeadline.enforce(deadline, on: database) { try Self.answer(to: probe, in: database) }
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            return .tookTooLong(deadline)
        } catch let error as DatabaseError {
            return .failed(ForeignText(error.message ?? "error \(error.extendedResultCode.rawValue)"))
        } catch {
            return .failed("\(error)")
        }
    }

    private static func answer(to probe: StoreProbe, in database: Database) throws -> FailedProbe.Reason? {
        let statement = try database.makeStatement(sql: probe.sql)
        guard statement.isReadonly else { return .failed("it does not only read") }
        let rows = try Row.fetchCursor(statement)
        // A row is there for as long as its cursor stands on it.
        return try withExtendedLifetime(rows) {
            guard let row = try rows.next() else { return .noRow }
            let value: DatabaseValue = row[0]
            if value.isNull { return .isNull }
            // SQLite's own truth: a text counts as the number with which it begins (sqlite.org/lang_expr.html section 16).
            return sqlite3_column_double(statement.sqliteStatement, 0) == 0
                ? .isZero(ForeignText(value.description)) : nil
        }
    }
}
