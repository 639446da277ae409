/// The bytes whose SHA-256 is a store's schema digest: equal schemas give equal bytes, whatever the order in which they
/// were made.
///
/// Source: `Protocol/README.md` section 4.5.
package enum SchemaListing {
    /// One row of `sqlite_schema`.
    package struct Entry: Hashable, Sendable {
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
    }

    /// Leaves out SQLite's own entries (`sqlite_...`), sorts by type, then name, as bytes of UTF-8; each of the four
    /// texts is followed by a zero byte.
    package static func bytes(of entries: some Sequence<Entry>) -> [UInt8] {
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

/// The names of tables and columns as SQL takes them: a name may be any text, one with quotes in it too.
package enum SQLName {
    /// Source: sqlite.org/lang_keywords.html. GRDB's `quotedDatabaseIdentifier` leaves quotes within a name as they are.
    package static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
