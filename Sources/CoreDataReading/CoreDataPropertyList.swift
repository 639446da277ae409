import EssentialFoundation
package import ShipProtocol
import StoreFormat

/// `Z_METADATA.Z_PLIST`, as far as it says anything of the right form: what it does not say, nobody claims, and a consumer
/// that compares the model finds the difference.
package struct CoreDataPropertyList: Sendable {
    /// Entity name to hash, 32 bytes, in base64.
    package let entityVersionHashes: [ForeignText: String]
    package let modelVersionIdentifiers: [ForeignText]
    package let storeType: ForeignText?
    /// Of the framework that wrote the store last.
    package let frameworkVersion: Int?
    package let versionHashesDigest: ForeignText?
    package let modelChecksum: ForeignText?
    /// What is in the place of the user's own pairs, whether they can be shipped or not.
    package let userPairs: [String: ForeignText]

    /// - Parameter bytes: A property list that nobody vouches for.
    package init(_ bytes: [UInt8]) {
        let root = PropertyListValue(bytes)?.dictionary ?? [:]
        entityVersionHashes = Self.versionHashes(in: root)
        modelVersionIdentifiers = root["NSStoreModelVersionIdentifiers"]?.array?.compactMap(Self.text) ?? []
        storeType = root["NSStoreType"].flatMap(Self.text)
        frameworkVersion = root["NSPersistenceFrameworkVersion"]?.integer
        versionHashesDigest = root["NSStoreModelVersionHashesDigest"].flatMap(Self.text)
        modelChecksum = root["NSStoreModelVersionChecksumKey"].flatMap(Self.text)
        userPairs = (root[UserMetadataPlace.propertyListKey]?.dictionary ?? [:]).compactMapValues(Self.text)
    }

    private static func text(_ value: PropertyListValue) -> ForeignText? { value.string.map { ForeignText($0) } }

    private static func versionHashes(in root: [String: PropertyListValue]) -> [ForeignText: String] {
        guard let hashes = root["NSStoreModelVersionHashes"]?.dictionary, hashes.count <= Limits.entities else {
            return [:]
        }
        let pairs = hashes.compactMap { name, value -> (ForeignText, String)? in
            guard let hash = value.data, hash.count == 32, Label.isValid(ForeignText(name)) else { return nil }
            return (ForeignText(name), Data(hash).base64EncodedString())
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
