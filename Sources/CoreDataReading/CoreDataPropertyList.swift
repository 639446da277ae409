import FoundationEssentials
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
    package init(_ bytes: [UInt8]) {
        let root = PropertyListValue(bytes)?.dictionary ?? [:]
        entityVersionHashes = Self.versionHashes(in: root)
        modelVersionIdentifiers = root["NSStoreModelVersionIdentifiers"]?.array?.compactMap(\.string) ?? []
        storeType = root["NSStoreType"]?.string
        frameworkVersion = root["NSPersistenceFrameworkVersion"]?.integer
        versionHashesDigest = root["NSStoreModelVersionHashesDigest"]?.string
        modelChecksum = root["NSStoreModelVersionChecksumKey"]?.string
        userPairs = (root[UserMetadataPlace.propertyListKey]?.dictionary ?? [:]).compactMapValues(\.string)
    }

    private static func versionHashes(in root: [String: PropertyListValue]) -> [String: String] {
        guard let hashes = root["NSStoreModelVersionHashes"]?.dictionary, hashes.count <= Limits.entities else {
            return [:]
        }
        return hashes.compactMapValues(\.data).filter { $0.value.count == 32 }
            .mapValues { Data($0).base64EncodedString() }
            .filter { (1...Limits.labelLength).contains($0.key.utf8.count) }
    }
}
