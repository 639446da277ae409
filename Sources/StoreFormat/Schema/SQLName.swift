/// The names of tables and columns as SQL takes them: a name may be any text, one with quotes in it too.
package enum SQLName {
    /// Source: sqlite.org/lang_keywords.html. GRDB's `quotedDatabaseIdentifier` leaves quotes within a name as they are.
    package static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
