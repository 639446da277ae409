import Foundation
import ShipProtocol
import StoreFormat

/// `Z_METADATA.Z_PLIST`, as far as it says anything of the right form: what it does not say, nobody claims, and a consumer
/// that compares the model finds the difference.
struct CoreDataPropertyList: Sendable {
    /// Entity name to hash, 32 bytes, in base64.
    let entityVersionHashes: [String: String]
    let modelVersionIdentifiers: [String]
    let storeType: String?
    /// Of the framework that wrote the store last.
    let frameworkVersion: Int?
    let versionHashesDigest: String?
    let modelChecksum: String?
    let userPairs: [String: String]

    init(_ bytes: Data) {
        let root =
            (try? PropertyListSerialization.propertyList(from: bytes, format: nil)) as? [String: Any] ?? [:]
        entityVersionHashes = Self.versionHashes(in: root)
        modelVersionIdentifiers = (root["NSStoreModelVersionIdentifiers"] as? [Any])?.compactMap { $0 as? String } ?? []
        storeType = root["NSStoreType"] as? String
        frameworkVersion = root["NSPersistenceFrameworkVersion"] as? Int
        versionHashesDigest = root["NSStoreModelVersionHashesDigest"] as? String
        modelChecksum = root["NSStoreModelVersionChecksumKey"] as? String
        userPairs = UserMetadata.valid(
            (root[UserMetadataPlace.propertyListKey] as? [String: Any] ?? [:]).compactMapValues { $0 as? String })
    }

    private static func versionHashes(in root: [String: Any]) -> [String: String] {
        guard let hashes = root["NSStoreModelVersionHashes"] as? [String: Any], hashes.count <= Limits.entities else {
            return [:]
        }
        return hashes.compactMapValues { ($0 as? Data).flatMap { $0.count == 32 ? $0.base64EncodedString() : nil } }
            .filter { (1...Limits.labelLength).contains($0.key.utf8.count) }
    }
}
