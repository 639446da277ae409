import CoreDataReading
import ShipProtocol
import StoreFormat

/// Whether a store lacks what its manifest says was left out of it: tables that were emptied have no rows, and external
/// files that do not come are referred to.
///
/// Source: `Protocol/README.md` section 4.9.
enum OmissionCheck {
    /// - Throws: `.contradictsManifest`, and what `connection` throws.
    static func run(on connection: CheckConnection, against omissions: Omissions) throws(StoreCheck.Flaw) {
        let tables = Set(
            try connection.rows(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage <> 0"
            ) { ForeignText($0.text(0) ?? "") })
        for table in omissions.tables {
            guard tables.contains(table), try isEmpty(table, connection) else {
                throw .contradictsManifest("omissions.tables")
            }
        }
        if omissions.history {
            for table in CoreDataLayout.history.map({ ForeignText($0) }) where tables.contains(table) {
                guard try isEmpty(table, connection) else { throw .contradictsManifest("omissions.history") }
            }
        }
        guard try references(among: Set(omissions.externalFiles.map(\.name)), connection) else {
            throw .contradictsManifest("omissions.externalFiles")
        }
    }

    private static func isEmpty(_ table: ForeignText, _ connection: CheckConnection) throws(StoreCheck.Flaw) -> Bool {
        // An index of a store that only `quick_check` has seen may lack what its table has.
        let sql = "SELECT 1 FROM \(SQLName.quoted(table.unescaped)) NOT INDEXED"
        return try connection.rows(sql, atMost: 1) { _ in }.isEmpty
    }

    /// Whether the store refers to all of the files.
    private static func references(
        among files: Set<ExternalFileName>, _ connection: CheckConnection
    ) throws(StoreCheck.Flaw) -> Bool {
        var left = files
        guard !left.isEmpty else { return true }
        for table in try connection.rows(ExternalReferenceCell.tables, { $0.text(0) ?? "" }) {
            let declared = try connection.rows("PRAGMA table_info(\(SQLName.quoted(table)))") { row in
                (name: row.text(1) ?? "", type: row.text(2) ?? "")
            }
            let columns = ExternalReferenceCell.columns(among: declared)
            guard !columns.isEmpty else { continue }
            _ = try connection.rows(ExternalReferenceCell.query(table, columns)) { row in
                for column in 1...columns.count {
                    if let name = ExternalReferenceCell.name(in: row.bytes(CInt(column))) { left.remove(name) }
                }
            }
            if left.isEmpty { return true }
        }
        return false
    }
}
