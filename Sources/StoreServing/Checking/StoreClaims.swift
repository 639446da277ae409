import FoundationEssentials
package import ShipProtocol
import StoreFiles

/// What a manifest says that its store can be asked for, in no more than some hundred bytes.
package struct StoreClaims: Hashable, Sendable, Codable {
    package let store: StoreFacts
    package let identity: String?
    /// Of the version hashes of its entities; `nil` for a store that Core Data did not make.
    package let modelDigest: ContentDigest?

    package init(store: StoreFacts, identity: String? = nil, coreData: Manifest.CoreDataFacts? = nil) {
        self.store = store
        self.identity = identity
        modelDigest = coreData.map { Self.digest(of: $0.entityVersionHashes) }
    }

    package init(_ manifest: Manifest) {
        self.init(store: manifest.store, identity: manifest.identity, coreData: manifest.coreData)
    }

    /// - Parameter hashes: Entity name to hash, in base64.
    static func digest(of hashes: [String: String]) -> ContentDigest {
        let lines = hashes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return ContentDigest(
            hashing: lines.flatMap { line in
                // The same bytes may be written in several ways.
                Array(line.key.utf8) + [0] + (Data(base64Encoded: line.value).map(Array.init) ?? Array(line.value.utf8))
            })
    }
}
