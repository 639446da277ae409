/// A head as it lies in a publication. Its publisher is to be verified before the head is read.
///
/// Source: `Protocol/PUBLISHED.md` sections 2 and 7. Vectors: `head_*`.
package struct HeadFile: Hashable, Sendable {
    private static let magic = Array("SHIPHEAD".utf8)
    private static let version: UInt8 = 1

    /// The id of the device that is said to have signed it: the name of the object that has its certificate.
    package let publisher: ContentDigest
    /// r, then s.
    package let signature: [UInt8]
    /// The signed bytes, beside the publisher's id.
    package let content: [UInt8]
    /// The JSON, and the frames of the shipments after it.
    private let json: [UInt8]
    private let frames: [UInt8]

    package init<Failure: Error>(
        _ head: PublishedHead, by publisher: ContentDigest, signedBy sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        (json, frames) = (head.jsonBytes, head.stores.flatMap(\.steps).flatMap(\.shipment))
        var content: [UInt8] = []
        content.append(bigEndian: UInt32(json.count))
        self.content = content + json + frames
        self.publisher = publisher
        signature = try sign(self.content)
    }

    /// The whole file.
    package var encoded: [UInt8] {
        Self.magic + [Self.version] + publisher.bytes + signature + PublicationText.packed(content)
    }

    /// - Throws: `.versionNotSupported`, `.damaged`, `.badMessage`.
    package init(decoding file: [UInt8]) throws(ProtocolError) {
        guard file.count <= Limits.headSize, file.starts(with: Self.magic) else {
            throw FrameType.manifest.bad("it is no head")
        }
        let rest = file.dropFirst(Self.magic.count)
        if let version = rest.first, version != Self.version { throw .versionNotSupported(version...version) }
        let fields = rest.dropFirst().prefix(ContentDigest.size + Signature.size)
        guard let publisher = ContentDigest(bytes: fields.prefix(ContentDigest.size)),
            fields.count == ContentDigest.size + Signature.size
        else { throw .damaged(.message(FrameType.manifest.rawValue)) }
        (self.publisher, signature) = (publisher, Array(fields.suffix(Signature.size)))
        content = try PublicationText.unpacked(rest.dropFirst(1 + fields.count))
        let text = content.dropFirst(4)
        guard content.count >= 4, case let size = UInt32(bigEndianBytes: content.prefix(4)), size <= text.count else {
            throw FrameType.manifest.bad("it is cut off")
        }
        (json, frames) = (Array(text.prefix(Int(size))), Array(text.dropFirst(Int(size))))
    }

    /// Reads what the head says.
    ///
    /// - Throws: `.badMessage`.
    package func head() throws(ProtocolError) -> PublishedHead {
        var head = try PublishedHead.decode(json[...], as: .manifest)
        var frames = frames[...]
        guard head.takeShipments(from: &frames), frames.isEmpty else {
            throw FrameType.manifest.bad("its shipments are not as long as it says")
        }
        return head
    }
}

extension Signature {
    /// The bytes that the signature of a head covers.
    ///
    ///     0   30 bytes  `ship-store publication head v1` in ASCII
    ///     30  32 bytes  the publisher's id
    ///     62  8 bytes   length of the content
    ///     70  rest      the content
    ///
    /// Source: `Protocol/PUBLISHED.md` section 2.
    package static func signedContent(publisher id: [UInt8], head content: [UInt8]) -> [UInt8] {
        var bytes = Array("ship-store publication head v1".utf8)
        bytes += id
        bytes.append(bigEndian: UInt64(content.count))
        bytes += content
        return bytes
    }
}
