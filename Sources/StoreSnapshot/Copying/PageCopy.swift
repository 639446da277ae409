import GRDB
import StoreFiles
import StoreFormat
import SystemPackage

/// A private copy of a store's pages, with the header that SQLite would write today. It may be changed, and is thrown away on any error.
struct PageCopy: Sendable {
    let path: FilePath
    /// The file that errors are about.
    let store: FilePath
    let watch: ConnectionWatch

    /// Takes the pages, and puts those trees in order whose order is another one than in the store: schema format 4 gives DESC its meaning
    /// [sqlite.org/fileformat2.html section 1.3.10].
    ///
    /// - Parameters:
    ///   - file: Open at `path`, and empty.
    ///   - copy: Copies the pages of the store to the database.
    func fill(
        _ file: consuming OpenFile, _ space: FreeSpace, _ copy: (Database) throws(SnapshotError) -> Void
    ) throws(SnapshotError) {
        try change { try copy($0) }
        let wasOld = try SnapshotError.writing(needed: space.needed) { () throws(FileError) in
            let header = try file.read(DatabaseHeader.size, at: 0)
            guard header.count == DatabaseHeader.size else { return false }
            let modern = DatabaseHeader.modern(header)
            try file.write(modern, at: 0)
            return modern[44..<48] != header[44..<48]
        }
        guard wasOld else { return }
        try change { database in
            guard try IndexValue.all(in: database).contains(where: \.isDescending) else { return }
            // Twice: the first time SQLite may look for rows in a table WITHOUT ROWID that has not got its order yet.
            try space.watch(database) { try database.execute(sql: "REINDEX; REINDEX") }
        }
    }

    func change<Value>(_ body: (Database) throws -> Value) throws(SnapshotError) -> Value {
        let connection = try WatchedConnection(address: path.databaseURI, mayWrite: true, of: store, watch: watch)
        return try connection.read { database in
            try database.execute(sql: "PRAGMA journal_mode = OFF")
            return try body(database)
        }
    }

    /// Makes the canonical form, or vacuums the copy where there is none. Then the copy is removed.
    ///
    /// - Parameters:
    ///   - canonical: Where to write the canonical form.
    ///   - vacuumed: Where to vacuum the copy.
    /// - Returns: What is in the tables, if they have a canonical form: see `CanonicalSource.makeCanonical`; `nil` if it was vacuumed.
    func makeCanonical(
        as canonical: FilePath, orVacuumTo vacuumed: FilePath, _ space: FreeSpace
    ) throws(SnapshotError) -> CanonicalSource.Outcome? {
        // If SQLite finds a fault in the schema here, `VACUUM INTO` finds it again and reports it.
        if let order = try? change({ try CompactOrder(of: $0) }) {
            let made = try CanonicalSource.pages(path, order).makeCanonical(as: canonical, watch)
            if case .success = made { return made }
        }
        defer { try? PlatformCalls.removeFile(path) }
        try VacuumInto.prepare(vacuumed, space)
        try change { database in
            try database.execute(sql: SchemaStatements.preparationForVacuum)
            try VacuumInto.vacuum(database, into: vacuumed, space)
        }
        return nil
    }
}
