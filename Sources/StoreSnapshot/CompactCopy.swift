package import ShipProtocol
import StoreFiles
package import SystemPackage

/// One committed state of a store: a single file in rollback mode without sidecars, what is in it, and its external
/// files, all in a private folder that goes away with the owner of this.
package struct CompactCopy: ~Copyable, Sendable {
    private let folder: TemporaryFolder
    /// The copy, readable by its owner only.
    package let path: FilePath
    package let facts: StoreFacts
    /// What stays the same in every copy of the store: `Z_UUID` of a Core Data store.
    package let identity: ForeignText?
    /// `nil` for a store that Core Data did not make.
    package let coreData: Manifest.CoreDataFacts?
    package let externalFiles: [CopiedExternalFile]
    /// Referenced, not there, and left out on the caller's word.
    package let missingExternalFiles: [ExternalFileName]
    /// Left out on the user's word; `nil` if nothing was.
    package let omissions: Omissions?
    /// What is known of its canonical form.
    package let canonical: CanonicalFacts
    /// By the table's name; `nil` if that cannot be told of all of them.
    package let tables: [ForeignText: TableContent]?
    /// The user's own pairs, as the store keeps them.
    package let metadata: [String: ForeignText]
    /// The SQLite that made the copy.
    package let sqliteVersion: ForeignText
    /// What the store was in when it was copied: while `SourceStore.state()` is equal to it, another copy with the same
    /// options would have the same bytes. `nil` where that cannot be told.
    package let state: StoreState?

    init(
        folder: consuming TemporaryFolder, path: FilePath, facts: StoreFacts, coreData: CoreDataStore?,
        externalFiles: [CopiedExternalFile], missingExternalFiles: [ExternalFileName],
        omissions: Omissions?, canonical: CanonicalFacts, tables: [ForeignText: TableContent]?,
        metadata: [String: ForeignText],
        sqliteVersion: ForeignText, state: StoreState?
    ) {
        self.folder = folder
        self.path = path
        self.facts = facts
        self.identity = coreData?.identity
        self.coreData = coreData?.facts
        self.externalFiles = externalFiles
        self.missingExternalFiles = missingExternalFiles
        self.omissions = omissions
        self.canonical = canonical
        self.tables = tables
        self.metadata = metadata
        self.sqliteVersion = sqliteVersion
        self.state = state
    }

    /// What is said of the copy to a consumer.
    ///
    /// - Parameters:
    ///   - software: Name and version of the program that ships it.
    ///   - metadata: Pairs that go with this shipment; they win over those of the store.
    /// - Throws: `.tooMuchMetadata`.
    package func manifest(
        name: StoreName, createdAt: Timestamp, software: String, metadata: [String: ForeignText] = [:]
    ) throws(SnapshotError) -> Manifest {
        let pairs = self.metadata.merging(metadata) { _, new in new }
        guard pairs.count <= Limits.metadataPairs else { throw .tooMuchMetadata(limit: Limits.metadataPairs) }
        return Manifest(
            name: name, createdAt: createdAt,
            producer: Manifest.Software(software: ForeignText(software), sqlite: sqliteVersion), store: facts,
            identity: identity,
            coreData: coreData, externalFiles: externalFiles.map(\.file),
            missingExternalFiles: missingExternalFiles, omissions: omissions, tables: tables, metadata: pairs)
    }
}

/// An external file that belongs to a copy.
package struct CopiedExternalFile: Hashable, Sendable {
    package let file: ExternalFile
    /// Where it is: in the copy's folder. It may be the source's own file under a second name; it is never written to.
    package let path: FilePath
}
