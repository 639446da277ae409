import EssentialFoundation
package import ShipProtocol
import StoreFiles

/// The claims of a manifest about its store, as far as SQLite can verify them in the store.
package struct StoreClaims: Hashable, Sendable, Codable {
    package let store: StoreFacts
    package let identity: ForeignText?
    /// Of the version hashes of its entities; `nil` for a store that Core Data did not make.
    package let modelDigest: ContentDigest?
    /// The parts that the producer says were left out of it.
    package let omissions: Omissions?
    /// The content of each of its tables; `nil` if the manifest does not say.
    package let tables: [ForeignText: TableContent]?

    package init(
        store: StoreFacts, identity: ForeignText? = nil, coreData: Manifest.CoreDataFacts? = nil,
        omissions: Omissions? = nil, tables: [ForeignText: TableContent]? = nil
    ) {
        self.store = store
        self.identity = identity
        modelDigest = coreData.map { Self.digest(of: $0.entityVersionHashes) }
        self.omissions = omissions
        self.tables = tables
    }

    package init(_ manifest: Manifest) {
        self.init(
            store: manifest.store, identity: manifest.identity, coreData: manifest.coreData,
            omissions: manifest.omissions, tables: manifest.tables)
    }

    /// - Parameter hashes: Entity name to hash, in base64.
    static func digest(of hashes: [ForeignText: String]) -> ContentDigest {
        let lines = hashes.sorted { $0.key < $1.key }
        return ContentDigest(
            hashing: lines.flatMap { line in
                // The same bytes may be written in several ways.
                Array(line.key.unescaped.utf8) + [0]
                    + (Data(base64Encoded: line.value).map(Array.init) ?? Array(line.value.utf8))
            })
    }
}
