package import ShipProtocol
import StoreFiles
package import StoreFormat
package import SystemPackage

/// One committed state of a store: a single file in rollback mode without sidecars, and its external files, in a private folder
/// that is removed with this value.
package struct CompactCopy: ~Copyable, Sendable {
    /// Kept for as long as this value lives.
    let folder: TemporaryFolder
    /// The copy, readable by its owner only.
    package let path: FilePath
    package let facts: StoreFacts
    /// The identity, which stays the same in every copy of the store: `Z_UUID` of a Core Data store.
    package let identity: ForeignText?
    /// `nil` for a store that Core Data did not make.
    package let coreData: Manifest.CoreDataFacts?
    /// The external files, with their paths in the copy's folder. A file may be the source's own under a second name: it is never
    /// written to.
    package let externalFiles: [(file: ExternalFile, path: FilePath)]
    /// The files that are referenced and missing, and that the caller allowed to leave out.
    package let missingExternalFiles: [ExternalFileName]
    /// The parts that the user left out; `nil` for nothing.
    package let omissions: Omissions?
    /// The first complaint of SQLite's check of the copy; `nil` for a sound copy, as nobody takes another.
    package let damage: ForeignText?
    /// `nil` if its canonical form was not asked for. If the copy is in canonical form, the shapes of its indexes, by the names of the
    /// indexes; if it is as `VACUUM INTO` left it, the flaw because of which it has none.
    package let canonical: Result<[String: IndexShape], StoreFlaw>?
    /// The content of each table, by the table's name; `nil` if that cannot be told of all of them.
    package let tables: [ForeignText: TableContent]?
    /// The user's own pairs, as the store keeps them.
    package let metadata: [String: ForeignText]
    /// The SQLite that made the copy.
    package let sqliteVersion: ForeignText
    /// The state of the store when it was copied: while `SourceStore.state()` equals it, another copy with the same options would
    /// have the same bytes. `nil` where the state cannot be told.
    package let state: StoreState?

    /// The manifest that describes the copy to a consumer.
    ///
    /// - Parameters:
    ///   - software: Name and version of the program that ships it.
    ///   - metadata: Pairs that go with this shipment; they win over those of the store.
    /// - Throws: `.badMetadata`.
    package func manifest(
        name: StoreName, createdAt: Timestamp, software: String, metadata: [String: ForeignText] = [:]
    ) throws(SnapshotError) -> Manifest {
        let pairs = self.metadata.merging(metadata) { _, new in new }
        if let flaw = Manifest.firstFlaw(ofMetadata: pairs) { throw .badMetadata(ForeignText(flaw)) }
        return Manifest(
            name: name, createdAt: createdAt,
            producer: Manifest.Software(software: ForeignText(software), sqlite: sqliteVersion), store: facts,
            identity: identity,
            coreData: coreData, externalFiles: externalFiles.map(\.file),
            missingExternalFiles: missingExternalFiles, omissions: omissions, tables: tables, metadata: pairs)
    }
}
