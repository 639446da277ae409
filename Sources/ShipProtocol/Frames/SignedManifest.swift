/// A manifest as its producer has signed it, byte for byte: whoever passes the shipment on sends these bytes.
///
///     SIGNATURE, MANIFEST    two frames, as they go over a link
///
/// Source: `Protocol/README.md` sections 3.6 and 6.7.
package struct SignedManifest: Hashable, Sendable {
    package let signature: Signature
    /// The payload of MANIFEST.
    package let payload: [UInt8]
    /// What it says. What a delta over a one-way link referred to is of no meaning to others, and left out.
    package let manifest: Manifest

    /// Most bytes of both frames.
    package static let longest =
        FrameType.signature.payloadLimit + FrameType.manifest.payloadLimit + 2 * FrameHeader.frameSize

    /// - Parameter manifest: What the payload says.
    package init(_ signature: Signature, payload: [UInt8], saying manifest: Manifest) {
        (self.signature, self.payload, self.manifest) = (signature, payload, manifest.over(nil))
    }

    /// Reads the two frames.
    ///
    /// - Throws: `.badMessage` also for a manifest that refers to another one, which others may not hold.
    package init(decoding frames: [UInt8]) throws(ProtocolError) {
        let (signature, rest) = try Frame.payload(.signature, in: frames[...])
        let (payload, end) = try Frame.payload(.manifest, in: rest)
        guard end.isEmpty else { throw .truncated }
        let manifest = try Manifest(decoding: FrameType.manifest.unpacked(payload))
        try self.init(Signature(decoding: signature), payload: Array(payload), saying: manifest)
    }

    /// The two frames.
    package func encoded() throws(ProtocolError) -> [UInt8] {
        try Frame.signature(signature).serialized() + Frame.serialized(.manifest, payload)
    }
}

extension FrameHeader {
    /// Bytes of a frame beside its payload.
    fileprivate static let frameSize = size + 4
}

extension Frame {
    /// A frame whose payload is given.
    fileprivate static func serialized(_ type: FrameType, _ payload: [UInt8]) throws(ProtocolError) -> [UInt8] {
        let length = UInt32(clamping: payload.count)
        guard length <= type.payloadLimit else {
            throw .payloadTooLong(type: type.rawValue, length: length, limit: type.payloadLimit)
        }
        var bytes = [type.rawValue]
        bytes.append(bigEndian: length)
        bytes += payload
        bytes.append(bigEndian: UInt32(crc32Of: bytes))
        return bytes
    }

    /// Takes a frame of a type from the beginning.
    ///
    /// - Returns: Its payload, and what follows the frame.
    /// - Throws: `.truncated`, `.outOfOrder` for another type, `.damaged`; what `FrameHeader` throws.
    fileprivate static func payload(
        _ type: FrameType, in bytes: ArraySlice<UInt8>
    ) throws(ProtocolError) -> (ArraySlice<UInt8>, rest: ArraySlice<UInt8>) {
        let header = try FrameHeader(decoding: bytes.prefix(FrameHeader.size))
        guard header.type == type else { throw .outOfOrder(header.type?.rawValue ?? bytes.first ?? 0) }
        let frame = bytes.prefix(FrameHeader.frameSize + header.payloadLength)
        guard frame.count == FrameHeader.frameSize + header.payloadLength else { throw .truncated }
        guard UInt32(crc32Of: frame.dropLast(4)) == UInt32(bigEndianBytes: frame.suffix(4)) else {
            throw .damaged(.frame(type.rawValue))
        }
        return (frame.dropFirst(FrameHeader.size).dropLast(4), bytes.dropFirst(frame.count))
    }
}
