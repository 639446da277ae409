/// One frame, decoded and within all limits. The dialogue judges the order of frames.
///
/// Source: `Protocol/README.md` section 3.2.
package enum Frame: Hashable, Sendable {
    case hello(Hello)
    case manifest(Manifest)
    case answer(Answer)
    case part(PartOpening)
    case data(PartData)
    case signature(Signature)
    /// The producer asks what the base has in common with its store: the content is that of `Protocol/RANGES.md`.
    case compare([UInt8])
    /// The consumer tells it.
    case ranges([UInt8])
    case end
    case receipt(Receipt)
    case refusal(Reason)
    case cancel(Reason)
    case working
    case stay(Stay)
    /// The producer answers questions.
    case askable
    case question(Question)
    case newest(Newest)

    package var type: FrameType {
        switch self {
        case .hello: .hello
        case .manifest: .manifest
        case .answer: .answer
        case .part: .part
        case .data: .data
        case .signature: .signature
        case .compare: .compare
        case .ranges: .ranges
        case .end: .end
        case .receipt: .receipt
        case .refusal: .refusal
        case .cancel: .cancel
        case .working: .working
        case .stay: .stay
        case .askable: .askable
        case .question: .question
        case .newest: .newest
        }
    }

    /// - Parameters:
    ///   - payload: Within the limit of the type; the caller has compared its checksum.
    ///   - held: What a manifest may refer to.
    ///   - offer: What an answer or a receipt may refer to.
    ///   - certificate: The one that came last, which a signature may refer to.
    init(
        type: FrameType, payload: ArraySlice<UInt8>, over held: HeldContents = HeldContents(),
        answering offer: [ManifestContent] = [], after certificate: [UInt8] = []
    ) throws(ProtocolError) {
        switch type {
        case .hello: self = .hello(try Hello.decode(packed: payload, as: type))
        case .manifest: self = .manifest(try Manifest(decoding: try type.unpacked(payload, over: held)))
        case .answer: self = .answer(try Answer.decode(packed: payload, as: type, answering: offer))
        case .part: self = .part(try PartOpening(decoding: payload))
        case .data: self = .data(try PartData(decoding: payload))
        case .signature: self = .signature(try Signature(decoding: payload, after: certificate))
        case .compare: self = .compare(Array(payload))
        case .ranges: self = .ranges(Array(payload))
        case .end: self = .end
        case .receipt: self = .receipt(try Receipt.decode(packed: payload, as: type, answering: offer))
        case .refusal: self = .refusal(try Reason.decode(payload, as: type))
        case .cancel: self = .cancel(try Reason.decode(payload, as: type))
        case .working: self = .working
        case .stay: self = .stay(try Stay(decoding: payload))
        case .askable: self = .askable
        case .question: self = .question(try Question(decoding: payload))
        case .newest: self = .newest(try Newest(decoding: payload))
        }
    }

    /// The payload of MANIFEST, which a signature covers.
    package static func payload(of manifest: Manifest) throws(ProtocolError) -> [UInt8] {
        try FrameType.manifest.packed(manifest.jsonBytes)
    }

    /// Any frame, of its payload.
    static func serialized(_ payload: [UInt8], as type: FrameType) throws(ProtocolError) -> [UInt8] {
        var frame = roomForHeader + payload
        try complete(&frame, as: type)
        return frame
    }

    /// MANIFEST in its shortest form, and what answers to it may refer to.
    ///
    /// - Parameters:
    ///   - base: A content that the consumer holds, for the manifest to refer to.
    ///   - mustRefer: Whether the manifest refers to it in any case.
    /// - Throws: `.payloadTooLong` for a manifest that lists too much.
    package static func offer(
        _ manifest: Manifest, over base: ManifestContent?, mustRefer: Bool = false
    ) throws(ProtocolError) -> (bytes: [UInt8], offer: [ManifestContent]) {
        let bytes = try Frame.manifest(manifest).serialized(over: base, mustRefer: mustRefer)
        let isDifference = FrameType.base(ofManifest: bytes.dropFirst(FrameHeader.size)) != nil
        return (bytes, ManifestContent.offer(of: manifest, over: isDifference ? base : nil))
    }

    /// Header, payload and checksum.
    ///
    /// - Parameters:
    ///   - base: A content that the consumer holds, for a manifest to refer to.
    ///   - mustRefer: Whether the manifest refers to it in any case.
    ///   - offer: What an answer or a receipt is about.
    ///   - certificate: The one that went last, for a signature to refer to.
    /// - Throws: `.payloadTooLong` for a manifest that lists too much.
    package func serialized(
        over base: ManifestContent? = nil, mustRefer: Bool = false, answering offer: [ManifestContent] = [],
        after certificate: [UInt8] = []
    ) throws(ProtocolError) -> [UInt8] {
        var bytes = Self.roomForHeader
        switch self {
        case .hello(let hello): bytes += try type.packed(hello.jsonBytes)
        case .manifest(let manifest): bytes += try type.packed(manifest.jsonBytes, over: base, mustRefer: mustRefer)
        case .answer(let answer): bytes += try type.packed(answer.jsonBytes, answering: offer)
        case .part(let opening): opening.append(to: &bytes)
        case .data(let data):
            bytes.reserveCapacity(FrameHeader.size + PartData.headerSize + data.bytes.count + 4)
            data.append(to: &bytes)
        case .signature(let signature): signature.append(to: &bytes, after: certificate)
        case .compare(let content), .ranges(let content): bytes += content
        case .receipt(let receipt): bytes += try type.packed(receipt.jsonBytes, answering: offer)
        case .refusal(let reason), .cancel(let reason): bytes += reason.jsonBytes
        case .stay(let stay): stay.append(to: &bytes)
        case .question(let question): question.append(to: &bytes)
        case .newest(let newest): newest.append(to: &bytes)
        case .end, .working, .askable: break
        }
        try Self.complete(&bytes, as: type)
        return bytes
    }

    static let roomForHeader = [UInt8](repeating: 0, count: FrameHeader.size)

    /// Puts the header in its place before a payload, and the checksum behind it.
    ///
    /// - Throws: `.payloadTooLong`.
    static func complete(_ bytes: inout [UInt8], as type: FrameType) throws(ProtocolError) {
        let length = UInt32(clamping: bytes.count - FrameHeader.size)
        guard length <= type.payloadLimit else {
            throw .payloadTooLong(type: type.rawValue, length: length, limit: type.payloadLimit)
        }
        bytes[0] = type.rawValue
        for index in 0..<4 { bytes[1 + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
        bytes.append(bigEndian: UInt32(crc32Of: bytes))
    }
}
