/// What a consumer holds of one sender, as a file that goes back to that sender: what a delta may refer to on a way on which nobody
/// answers. Nothing proves who has written it.
///
/// Source: `Protocol/README.md` section 5.6. Vectors: `holdings_*`.
public struct HoldingsFile: Hashable, Sendable {
    /// Name and version of the consumer's program.
    public let software: ForeignText
    public let createdAt: Timestamp
    /// Until when the consumer keeps what is named.
    public let until: Timestamp
    /// The id of the sender's device; `nil` for senders whose device is not known.
    public let sender: ContentDigest?
    /// The id of the consumer's device, if it has one.
    public let receiver: ContentDigest?
    /// Strictly rising by name.
    public let holds: [Held]

    /// The generation of a store that is current.
    public struct Held: Hashable, Sendable, Codable {
        public let name: StoreName
        /// What its manifest says.
        package let manifest: ManifestContent.ID
        public let store: ContentDigest
        /// Of the store, in bytes.
        public let size: Int64

        package init(of manifest: Manifest) {
            name = manifest.name
            self.manifest = ManifestContent(of: manifest).id
            store = manifest.store.sha256
            size = manifest.store.size
        }
    }

    /// - Parameter holds: In any order; those for which there is no room are left out.
    package init(
        software: String, createdAt: Timestamp, until: Timestamp, sender: ContentDigest?, receiver: ContentDigest?,
        holds: [Held]
    ) {
        self.software = ForeignText(software)
        self.createdAt = createdAt
        self.until = until
        self.sender = sender
        self.receiver = receiver
        self.holds = Array(holds.sorted { $0.name < $1.name }.prefix(Limits.holdings))
    }

    /// - Parameter bytes: The whole file.
    /// - Throws: `.badMessage`.
    package init(decoding bytes: [UInt8]) throws(ProtocolError) {
        guard bytes.count <= Limits.messageSize else {
            throw .badMessage(type: FrameType.hello.rawValue, flaw: "it is longer than \(Limits.messageSize) bytes")
        }
        self = try MessageCoding.decode(HoldingsFile.self, from: bytes[...], as: .hello)
    }

    /// As it stands in the file.
    package var encoded: [UInt8] { MessageCoding.encode(self) }

    /// What is held of a store.
    package subscript(_ name: StoreName) -> Held? { holds.first { $0.name == name } }
}

extension HoldingsFile: Message {
    private enum CodingKeys: String, CodingKey {
        case software, createdAt, until, receiver, holds
        case sender = "for"
    }

    var firstFlaw: String? {
        guard Label.isValid(software) else { return "software is not a label" }
        guard holds.count <= Limits.holdings else { return "more than \(Limits.holdings) stores" }
        guard zip(holds, holds.dropFirst()).allSatisfy({ $0.name < $1.name }) else { return "names that do not rise" }
        return holds.allSatisfy { (0...Limits.partSize).contains($0.size) }
            ? nil : "the size of a store is out of range"
    }
}
