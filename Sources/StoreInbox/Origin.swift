public import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Where a shipment came from, if that was proven. It lies beside the manifest of its generation, as `origin.json`, and so
/// becomes current in the same instant as the generation.
public struct Origin: Hashable, Sendable {
    /// The id of the device that made it: the SHA-256 of its certificate. `nil` where that is not known.
    public let producer: ContentDigest?
    /// The device's number of the shipment; 0 for what was adopted.
    public let counter: UInt64
    /// The id of the device that passed it on; `nil` if none did.
    public let relay: ContentDigest?
    /// `true` for what was adopted; otherwise left out.
    private let adopted: Bool?

    package init(producer: ContentDigest?, counter: UInt64, relay: ContentDigest? = nil, isAdopted: Bool = false) {
        (self.producer, self.counter, self.relay) = (producer, counter, relay)
        adopted = isAdopted ? true : nil
    }

    /// The operator of this device has put it there: no device has sent it.
    package static let adoption = Origin(producer: nil, counter: 0, isAdopted: true)

    /// Whether the operator of this device has put it there.
    public var isAdopted: Bool { adopted == true }
}

extension Origin: Codable {
    /// Whether a producer that may send a store may know what is in a generation of it: by whether a delta fits, it could find out. What it
    /// has sent or passed on itself it knows, and what was adopted the operator lets it know.
    ///
    /// - Parameter producer: `nil` for one that is not known, which may know of what came from nobody known.
    /// - Throws: `.badOrigin`, `.file`.
    package static func mayBeKnown(
        ofGenerationAt path: FilePath, in folder: borrowing OpenFolder, to producer: ContentDigest?
    ) throws(InboxError) -> Bool {
        try read(ofGenerationAt: path, in: folder)?.mayBeKnown(to: producer) ?? (producer == nil)
    }

    package func mayBeKnown(to producer: ContentDigest?) -> Bool {
        isAdopted || self.producer == producer || producer != nil && relay == producer
    }

    /// - Returns: `nil` if nobody knows.
    /// - Throws: `.badOrigin`, `.file`.
    package static func read(
        ofGenerationAt path: FilePath, in folder: borrowing OpenFolder
    ) throws(InboxError) -> Origin? {
        let path = path.appending(InboxLayout.originFile)
        return try folder.record(at: path, .badOrigin(path))
    }
}
