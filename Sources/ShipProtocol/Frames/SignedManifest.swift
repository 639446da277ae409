/// A manifest as its producer has signed it, byte for byte: whoever passes the shipment on sends these bytes.
///
///     SIGNATURE, MANIFEST    two frames, as they go over a link
///
/// Source: `Protocol/README.md` sections 3.6 and 6.7.
package struct SignedManifest: Hashable, Sendable {
    package let signature: Signature
    package let payload: [UInt8]
    /// The manifest without the base of a delta over a one-way link, which means nothing to others.
    package let manifest: Manifest

    /// Most bytes of both frames.
    package static let longest =
        FrameType.signature.payloadLimit + FrameType.manifest.payloadLimit + 2 * (FrameHeader.size + 4)

    package init(_ signature: Signature, payload: [UInt8], saying manifest: Manifest) {
        (self.signature, self.payload, self.manifest) = (signature, payload, manifest.over(nil))
    }

    /// Reads the two frames.
    ///
    /// - Throws: `.truncated` for anything else; what `FrameParser` throws.
    package init(decoding frames: [UInt8]) throws(ProtocolError) {
        var parser = FrameParser(pastPreamble: true)
        parser.append(frames)
        guard case .frame(.signature(let signature)) = try parser.next(),
            case .frame(.manifest(let manifest)) = try parser.next(), let payload = parser.signedPayload
        else { throw .truncated }
        try parser.finish()
        self.init(signature, payload: payload, saying: manifest)
    }

    /// The two frames, after the certificate that went last over the link.
    package func encoded(after certificate: [UInt8] = []) throws(ProtocolError) -> [UInt8] {
        var bytes = Frame.roomForHeader + payload
        try Frame.complete(&bytes, as: .manifest)
        return try Frame.signature(signature).serialized(after: certificate) + bytes
    }
}
