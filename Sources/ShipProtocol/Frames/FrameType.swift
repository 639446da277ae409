/// The first byte of a frame. Types below 0x80 must be known; those from 0x80 may be passed over.
///
/// Source: `Protocol/README.md` section 3.2. Vectors: `header_*`, `frame_*`.
package enum FrameType: UInt8, Hashable, Sendable, CaseIterable {
    case hello = 0x01
    case manifest = 0x02
    case answer = 0x03
    case part = 0x04
    case data = 0x05
    case end = 0x06
    case receipt = 0x07
    case refusal = 0x08
    case cancel = 0x09
    case signature = 0x0A
    case working = 0x81

    /// Longest payload, in bytes.
    package var payloadLimit: Int {
        switch self {
        case .hello, .answer, .receipt, .manifest: 1 + jsonLimit
        case .refusal, .cancel: jsonLimit
        case .part: PartOpening.size
        case .data: PartData.headerSize + Limits.segmentSize
        case .signature: Signature.size + Limits.certificateSize
        case .end, .working: 0
        }
    }

    /// Longest JSON of a message, in bytes.
    var jsonLimit: Int { self == .manifest ? Limits.manifestSize : Limits.messageSize }
}

/// The 5 bytes before each payload: type and payload length.
///
/// Source: `Protocol/README.md` section 3.2. Vectors: `header_*`.
package struct FrameHeader: Hashable, Sendable {
    /// In bytes.
    package static let size = 5

    /// `nil` for an optional type that is not known.
    package let type: FrameType?
    /// In bytes, without header and checksum; within the limit of the type.
    package let payloadLength: Int

    /// - Parameter bytes: At least `size` of them; more are not looked at.
    /// - Throws: `.truncated`, `.unknownFrame` for a type that must be known, `.payloadTooLong`.
    package init(decoding bytes: some Collection<UInt8>) throws(ProtocolError) {
        guard let rawType = bytes.first, bytes.count >= Self.size else { throw .truncated }
        type = FrameType(rawValue: rawType)
        let length = UInt32(bigEndianBytes: bytes.dropFirst().prefix(4))
        guard type != nil || rawType >= 0x80 else { throw .unknownFrame(rawType) }
        let limit = type?.payloadLimit ?? Limits.optionalFrameSize
        guard length <= limit else { throw .payloadTooLong(type: rawType, length: length, limit: limit) }
        payloadLength = Int(length)
    }
}
