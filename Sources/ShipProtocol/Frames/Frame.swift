/// One frame, decoded and within all limits; the order of frames is the dialogue's business.
///
/// Source: `Protocol/README.md` section 3.2.
package enum Frame: Hashable, Sendable {
    case hello(Hello)
    case manifest(Manifest)
    case answer(Answer)
    case part(PartOpening)
    case data(PartData)
    case signature(Signature)
    case end
    case receipt(Receipt)
    case refusal(Reason)
    case cancel(Reason)
    case working

    package var type: FrameType {
        switch self {
        case .hello: .hello
        case .manifest: .manifest
        case .answer: .answer
        case .part: .part
        case .data: .data
        case .signature: .signature
        case .end: .end
        case .receipt: .receipt
        case .refusal: .refusal
        case .cancel: .cancel
        case .working: .working
        }
    }

    /// - Parameters:
    ///   - payload: Within the limit of the type; its checksum has been compared.
    ///   - held: What a manifest may refer to.
    ///   - offer: What an answer or a receipt may refer to.
    init(
        type: FrameType, payload: ArraySlice<UInt8>, over held: HeldContents = HeldContents(),
        answering offer: OfferedManifest? = nil
    ) throws(ProtocolError) {
        switch type {
        case .hello: self = .hello(try MessageCoding.decode(Hello.self, packed: payload, as: type))
        case .manifest:
            self = .manifest(
                try MessageCoding.decodeManifest(try PackedMessage.unpacking(payload, as: type, over: held)))
        case .answer: self = .answer(try MessageCoding.decode(Answer.self, packed: payload, as: type, answering: offer))
        case .part: self = .part(try PartOpening(decoding: payload))
        case .data: self = .data(try PartData(decoding: payload))
        case .signature: self = .signature(try Signature(decoding: payload))
        case .end: self = .end
        case .receipt:
            self = .receipt(try MessageCoding.decode(Receipt.self, packed: payload, as: type, answering: offer))
        case .refusal: self = .refusal(try MessageCoding.decode(Reason.self, from: payload, as: type))
        case .cancel: self = .cancel(try MessageCoding.decode(Reason.self, from: payload, as: type))
        case .working: self = .working
        }
    }

    /// The payload of MANIFEST, which a signature covers.
    package static func payload(of manifest: Manifest) throws(ProtocolError) -> [UInt8] {
        try PackedMessage.packing(MessageCoding.encode(manifest), as: .manifest)
    }

    /// MANIFEST as it goes, in the shortest way, and what answers to it may refer to.
    ///
    /// - Parameter base: What it may refer to, as the consumer has said that it holds it.
    /// - Throws: `.payloadTooLong` for a manifest that lists too much.
    package static func offer(
        _ manifest: Manifest, over base: ManifestContent?
    ) throws(ProtocolError) -> (bytes: [UInt8], offer: OfferedManifest) {
        let bytes = try Frame.manifest(manifest).serialized(over: base)
        let isDifference = PackedMessage.base(ofManifest: bytes.dropFirst(FrameHeader.size)) != nil
        return (bytes, OfferedManifest(manifest, over: isDifference ? base : nil))
    }

    /// Header, payload and checksum.
    ///
    /// - Parameters:
    ///   - base: What a manifest may refer to, as the consumer has said that it holds it.
    ///   - offer: What an answer or a receipt is about.
    /// - Throws: `.payloadTooLong` for a manifest that lists too much.
    package func serialized(
        over base: ManifestContent? = nil, answering offer: OfferedManifest? = nil
    ) throws(ProtocolError) -> [UInt8] {
        let answered = offer.map(PackedMessage.Reference.offer) ?? .none
        var bytes: [UInt8] = [type.rawValue, 0, 0, 0, 0]
        switch self {
        case .hello(let hello): bytes += try PackedMessage.packing(MessageCoding.encode(hello), as: type)
        case .manifest(let manifest):
            bytes += try PackedMessage.packing(
                MessageCoding.encode(manifest), as: type, over: base.map(PackedMessage.Reference.base) ?? .none)
        case .answer(let answer):
            bytes += try PackedMessage.packing(MessageCoding.encode(answer), as: type, over: answered)
        case .part(let opening): opening.append(to: &bytes)
        case .data(let data):
            bytes.reserveCapacity(FrameHeader.size + PartData.headerSize + data.bytes.count + 4)
            data.append(to: &bytes)
        case .signature(let signature): signature.append(to: &bytes)
        case .receipt(let receipt):
            bytes += try PackedMessage.packing(MessageCoding.encode(receipt), as: type, over: answered)
        case .refusal(let reason), .cancel(let reason): bytes += MessageCoding.encode(reason)
        case .end, .working: break
        }
        let length = UInt32(clamping: bytes.count - FrameHeader.size)
        guard length <= type.payloadLimit else {
            throw .payloadTooLong(type: type.rawValue, length: length, limit: type.payloadLimit)
        }
        for index in 0..<4 { bytes[1 + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
        bytes.append(bigEndian: Checksum.crc32(of: bytes))
        return bytes
    }
}

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
