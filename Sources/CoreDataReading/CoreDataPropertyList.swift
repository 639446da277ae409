package import Foundation
import ShipProtocol
import StoreFormat

/// `Z_METADATA.Z_PLIST`, as far as it says anything of the right form: what it does not say, nobody claims, and a consumer
/// that compares the model finds the difference.
package struct CoreDataPropertyList: Sendable {
    /// Entity name to hash, 32 bytes, in base64.
    package let entityVersionHashes: [String: String]
    package let modelVersionIdentifiers: [String]
    package let storeType: String?
    /// Of the framework that wrote the store last.
    package let frameworkVersion: Int?
    package let versionHashesDigest: String?
    package let modelChecksum: String?
    /// What is in the place of the user's own pairs, whether they can be shipped or not.
    package let userPairs: [String: String]

    /// - Parameter bytes: A property list that nobody vouches for.
    package init(_ bytes: Data) {
        let parsed =
            PropertyListShape.isModest(Array(bytes))
            ? try? PropertyListSerialization.propertyList(from: bytes, format: nil) : nil
        let root = parsed as? [String: Any] ?? [:]
        entityVersionHashes = Self.versionHashes(in: root)
        modelVersionIdentifiers = (root["NSStoreModelVersionIdentifiers"] as? [Any])?.compactMap { $0 as? String } ?? []
        storeType = root["NSStoreType"] as? String
        frameworkVersion = root["NSPersistenceFrameworkVersion"] as? Int
        versionHashesDigest = root["NSStoreModelVersionHashesDigest"] as? String
        modelChecksum = root["NSStoreModelVersionChecksumKey"] as? String
        userPairs = (root[UserMetadataPlace.propertyListKey] as? [String: Any] ?? [:]).compactMapValues {
            $0 as? String
        }
    }

    private static func versionHashes(in root: [String: Any]) -> [String: String] {
        guard let hashes = root["NSStoreModelVersionHashes"] as? [String: Any], hashes.count <= Limits.entities else {
            return [:]
        }
        return hashes.compactMapValues { ($0 as? Data).flatMap { $0.count == 32 ? $0.base64EncodedString() : nil } }
            .filter { (1...Limits.labelLength).contains($0.key.utf8.count) }
    }
}
