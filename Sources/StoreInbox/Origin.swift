public import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Where a shipment came from, if that was proven. It lies beside the manifest of its generation, as `origin.json`, and so
/// becomes current in the same instant as the generation.
public struct Origin: Hashable, Sendable {
    /// The id of the device that made it: the SHA-256 of its certificate. `nil` where that is not known.
    public let producer: ContentDigest?
    /// The device's number of the shipment.
    public let counter: UInt64

    package init(producer: ContentDigest?, counter: UInt64) {
        self.producer = producer
        self.counter = counter
    }
}

extension Origin: Codable {
    /// Largest file that is read, in bytes.
    static let sizeLimit: Int64 = 4096

    /// - Returns: `nil` if nobody knows.
    /// - Throws: `.badOrigin`, `.file`.
    package static func read(
        ofGenerationAt path: FilePath, in folder: borrowing OpenFolder
    ) throws(InboxError) -> Origin? {
        let path = path.appending(InboxLayout.originFile)
        return try folder.record(
            Origin.self, at: path, upTo: sizeLimit, unreadable: .badOrigin(path), undecodable: .badOrigin(path))
    }
}
