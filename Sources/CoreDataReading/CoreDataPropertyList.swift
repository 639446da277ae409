import EssentialFoundation
package import ShipProtocol

/// The entries of `Z_METADATA.Z_PLIST` that have the right form. Others count as missing: a consumer that compares the model finds
/// the difference.
package struct CoreDataPropertyList: Sendable {
    /// Entity name to hash, 32 bytes, in base64.
    package let entityVersionHashes: [ForeignText: String]
    package let modelVersionIdentifiers: [ForeignText]
    package let storeType: ForeignText?
    /// The version of the framework that wrote the store last.
    package let frameworkVersion: Int?
    package let versionHashesDigest: ForeignText?
    package let modelChecksum: ForeignText?
    /// The user's own pairs, whether they can be shipped or not.
    package let userPairs: [String: ForeignText]

    /// - Parameter bytes: An untrusted property list.
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
            guard let hash = value.data, hash.count == 32, ForeignText(name).isLabel else { return nil }
            return (ForeignText(name), Data(hash).base64EncodedString())
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
