/// A head as it lies in a publication. Its publisher is to be verified before the head is read.
///
/// Source: `Protocol/PUBLISHED.md` sections 2 and 7. Vectors: `head_*`.
package struct HeadFile: Hashable, Sendable {
    private static let magic = Array("SHIPHEAD".utf8)
    private static let version: UInt8 = 1

    package let signature: Signature
    /// The signed bytes, beside the publisher's id.
    package let content: [UInt8]
    /// The signatures of the shipments, the JSON, and the frames of the shipments after it.
    private let signatures: [UInt8]
    private let json: [UInt8]
    private let frames: [UInt8]

    package init<Failure: Error>(
        _ head: PublishedHead, certificate: [UInt8], signedBy sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        let steps = head.stores.flatMap(\.steps)
        (signatures, json, frames) = (steps.signatures, head.jsonBytes, steps.frames)
        content = PublicationText.sized(certificate, signatures, json) + frames
        signature = Signature(value: try sign(content), certificate: certificate)
    }

    /// The whole file.
    package var encoded: [UInt8] {
        let text = 4 + json.count + frames.count
        return Self.magic + [Self.version] + signature.value
            + PublicationText.packed(content, binary: content.count - text)
    }

    /// - Throws: `.versionNotSupported`, `.damaged`, `.badMessage`.
    package init(decoding file: [UInt8]) throws(ProtocolError) {
        guard file.count <= Limits.headSize, file.starts(with: Self.magic) else { throw Self.bad("it is no head") }
        let rest = file.dropFirst(Self.magic.count)
        if let version = rest.first, version != Self.version { throw .versionNotSupported(version...version) }
        guard rest.count > Signature.size else { throw .damaged(.message(FrameType.manifest.rawValue)) }
        content = try PublicationText.unpacked(rest.dropFirst(1 + Signature.size))
        var left = content[...]
        guard let certificate = PublicationText.takePart(from: &left),
            (1...Limits.certificateSize).contains(certificate.count)
        else { throw Self.bad("it has no certificate") }
        guard let signatures = PublicationText.takePart(from: &left),
            let json = PublicationText.takePart(from: &left)
        else { throw Self.bad("it is cut off") }
        signature = Signature(value: Array(rest.dropFirst().prefix(Signature.size)), certificate: Array(certificate))
        (self.signatures, self.json, frames) = (Array(signatures), Array(json), Array(left))
    }

    /// Reads what the head says.
    ///
    /// - Throws: `.badMessage`.
    package func head() throws(ProtocolError) -> PublishedHead {
        var head = try PublishedHead.decode(json[...], as: .manifest)
        var (signatures, frames) = (signatures[...], frames[...])
        guard head.takeShipments(from: &signatures, &frames), signatures.isEmpty, frames.isEmpty else {
            throw Self.bad("its shipments are not as long as it says")
        }
        return head
    }

    private static func bad(_ flaw: ForeignText) -> ProtocolError {
        .badMessage(type: FrameType.manifest.rawValue, flaw: flaw)
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
