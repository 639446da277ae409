package import ShipProtocol

/// How a cell of a Core Data store refers to an external file, and how SQL finds such cells.
///
/// A cell of an attribute that "allows external storage" begins with a tag: 1 for data that follows, 2 for the name of a file in
/// `_EXTERNAL_DATA`, 3 for one in `_FBF`. Other columns have no tags, and their content may begin with any byte; so only the exact form is
/// a reference: the tag, 36 characters of a UUID, and a NUL, which may be absent. Source: `Protocol/README.md` section 4.6.
package enum ExternalReferenceCell {
    /// The names of the tables that may be those of entities. Virtual tables, which have no root page, may be of modules that
    /// this SQLite does not know.
    package static let tables =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name GLOB 'Z*'"

    /// - Parameter columns: Of a table, with their declared types.
    /// - Returns: Those that may hold references; none if the table is not one of an entity, which has `Z_PK`.
    package static func columns(among columns: [(name: String, type: String)]) -> [String] {
        guard columns.contains(where: { $0.name == "Z_PK" }) else { return [] }
        return columns.filter { $0.type.uppercased() == "BLOB" }.map(\.name)
    }

    /// Selects the key and the columns of rows that may have a reference. SQLite answers `typeof` and `length` of a cell
    /// without reading it, so that long ones cost nothing. What cannot be a reference comes as NULL, for the same reason.
    package static func query(_ table: String, _ columns: [String]) -> String {
        let conditions = columns.map { column in
            let name = column.quotedSQLName
            return
                "typeof(\(name)) = 'blob' AND length(\(name)) IN (37, 38) AND substr(\(name), 1, 1) IN (x'02', x'03')"
        }
        let cells = zip(columns, conditions).map { "CASE WHEN \($1) THEN \($0.quotedSQLName) END" }
        let found = conditions.map { "(\($0))" }.joined(separator: " OR ")
        return
            "SELECT Z_PK, \(cells.joined(separator: ", ")) FROM \(table.quotedSQLName) NOT INDEXED WHERE \(found) ORDER BY Z_PK"
    }

    /// Selects the cell of one row, whose key is the argument, if it may be a reference.
    package static func query(_ table: String, _ column: String) -> String {
        let name = column.quotedSQLName
        return
            "SELECT \(name) FROM \(table.quotedSQLName) WHERE Z_PK = ? AND typeof(\(name)) = 'blob' AND length(\(name)) IN (37, 38)"
    }

    /// - Returns: `nil` for a cell that is not exactly a reference.
    package static func name(in cell: (some Collection<UInt8>)?) -> ExternalFileName? {
        guard let cell, (37...38).contains(cell.count) else { return nil }
        let bytes = Array(cell)
        guard bytes.count == 37 || bytes[37] == 0 else { return nil }
        let folder: ExternalFileName.Folder
        switch bytes[0] {
        case 2: folder = .externalData
        case 3: folder = .fileBacked
        default: return nil
        }
        guard let uuid = String(validating: bytes[1..<37], as: UTF8.self) else { return nil }
        return ExternalFileName(folder: folder, uuid: uuid)
    }
}
