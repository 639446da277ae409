package import GRDB

/// How a store that came from elsewhere is opened to be read: read-only, immutable, and with its schema distrusted.
///
/// Source: sqlite.org/security.html section 1, sqlite.org/c3ref/open.html on `immutable`.
package enum HardenedConfiguration {
    /// - Parameter longestValue: The longest text, blob or row that SQLite may build, in bytes. No honest one is longer
    ///   than its file.
    package static func make(trust: Hardening.Trust, longestValue: Int64) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.label = "ship-store"
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            guard let connection = database.sqliteConnection else { return }
            Hardening(trust: trust, longestValue: longestValue).apply(to: connection)
            let checksCells = trust == .checked ? "OFF" : "ON"
            try database.execute(sql: "PRAGMA cell_size_check = \(checksCells); PRAGMA mmap_size = 0")
        }
        return configuration
    }
}
