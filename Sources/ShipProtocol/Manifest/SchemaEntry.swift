/// One row of `sqlite_schema`, as the digest of a schema counts it.
///
/// Source: `Protocol/README.md` section 4.5.
package struct SchemaEntry: Hashable, Sendable {
    package let type: String
    package let name: String
    package let tableName: String
    /// Empty where it is NULL.
    package let sql: String

    package init(type: String, name: String, tableName: String, sql: String) {
        self.type = type
        self.name = name
        self.tableName = tableName
        self.sql = sql
    }

    /// The bytes whose SHA-256 is `StoreFacts.schemaSHA256`: equal schemas give equal bytes, whatever the order in which they were made.
    ///
    /// It leaves out SQLite's own entries (`sqlite_...`), and sorts the others by type, then by name, as bytes of UTF-8. A zero byte
    /// follows each of the four texts.
    package static func listing(of entries: some Sequence<SchemaEntry>) -> [UInt8] {
        let rows = entries.filter { !$0.name.hasPrefix("sqlite_") }
            .map { entry in (entry, Array(entry.type.utf8), Array(entry.name.utf8)) }
            .sorted { left, right in
                left.1 == right.1
                    ? left.2.lexicographicallyPrecedes(right.2) : left.1.lexicographicallyPrecedes(right.1)
            }
        var bytes: [UInt8] = []
        for (entry, type, name) in rows {
            for text in [type, name, Array(entry.tableName.utf8), Array(entry.sql.utf8)] {
                bytes += text
                bytes.append(0)
            }
        }
        return bytes
    }
}
