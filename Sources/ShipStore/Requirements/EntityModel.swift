public import ShipProtocol

/// One version of a Core Data model: what a store of it must say of its entities, byte for byte.
///
/// The hashes are compared, and never computed: Core Data writes them into the store, and the model compiler into `VersionInfo.plist`.
public struct EntityModel: Hashable, Sendable {
    /// For messages: the version's name in its `.momd`, or the file it comes from.
    public let name: ForeignText
    /// Entity name to the 32 bytes of its version hash.
    public let hashes: [ForeignText: [UInt8]]

    /// Length of a version hash, in bytes.
    static let hashSize = 32

    public init(name: ForeignText, hashes: [ForeignText: [UInt8]]) {
        self.name = name
        self.hashes = hashes
    }
}
