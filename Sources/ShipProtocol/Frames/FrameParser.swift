/// Cuts what comes over a link into its preamble and frames. Bytes go in as they come, elements come out when they are
/// whole; it holds at most one frame and one piece of input.
///
/// Source: `Protocol/README.md` sections 3.1 and 3.2. Vectors: `stream_*`, `dialogue_*`.
package struct FrameParser: Sendable {
    package enum Element: Hashable, Sendable {
        case preamble(Preamble)
        case frame(Frame)
        /// A frame that this version does not know, and need not.
        case unknownOptionalFrame
    }

    private var hasPreamble: Bool
    /// Of the frame whose rest has not come yet.
    private var header: FrameHeader?
    private var buffer: [UInt8] = []
    /// Index in the buffer of the first unread byte.
    private var start = 0

    /// Bytes so far of frames without content: WORKING, STAY, and optional ones that this version does not know. A peer that sends only
    /// these keeps a link open for nothing.
    package private(set) var emptyBytes: Int64 = 0

    /// The payload of the last MANIFEST, byte for byte, if it came after a SIGNATURE: what the signature covers.
    package private(set) var signedPayload: [UInt8]?
    private var isSigned = false
    /// The one of the last SIGNATURE, which the next one may refer to.
    private var certificate: [UInt8] = []

    /// The contents that a manifest may refer to.
    package var held = HeldContents()
    /// The contents that an answer to the last offer of either side may refer to.
    package var offer: [ManifestContent] = []
    /// The content that the last manifest refers to.
    package private(set) var base: ManifestContent.ID?

    /// - Parameter hasPreamble: Whether the preamble has been read, or there is none.
    package init(pastPreamble hasPreamble: Bool = false) { self.hasPreamble = hasPreamble }

    package mutating func append(_ bytes: [UInt8]) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    /// The next complete element, or `nil` if it needs more bytes.
    package mutating func next() throws(ProtocolError) -> Element? {
        guard hasPreamble else { return try preamble().map(Element.preamble) }
        if header == nil {
            guard unread.count >= FrameHeader.size else { return nil }
            header = try FrameHeader(decoding: unread.prefix(FrameHeader.size))
        }
        guard let header else { return nil }
        let checksumStart = FrameHeader.size + header.payloadLength
        guard unread.count >= checksumStart + 4 else { return nil }
        let frame = unread.prefix(checksumStart + 4)
        guard UInt32(crc32Of: frame.dropLast(4)) == UInt32(bigEndianBytes: frame.suffix(4)) else {
            throw .damaged(.frame(frame[frame.startIndex]))
        }
        start += frame.count
        self.header = nil
        guard let type = header.type else {
            emptyBytes += Int64(frame.count)
            return .unknownOptionalFrame
        }
        if type.isWithoutContent { emptyBytes += Int64(frame.count) }
        let payload = frame.dropFirst(FrameHeader.size).dropLast(4)
        if type == .signature { isSigned = true }
        // A shipment that is given up takes its signature with it.
        if type == .cancel { isSigned = false }
        if type == .manifest {
            signedPayload = isSigned ? Array(payload) : nil
            guard !isSigned || FrameType.base(ofManifest: payload) == nil else {
                throw type.bad("it is signed, and differs from another one")
            }
            isSigned = false
        }
        let decoded = try Frame(type: type, payload: payload, over: held, answering: offer, after: certificate)
        if case .signature(let signature) = decoded { certificate = signature.certificate }
        if case .manifest(let manifest) = decoded {
            base = FrameType.base(ofManifest: payload)
            offer = ManifestContent.offer(of: manifest, over: base.flatMap { held[$0] })
        }
        return .frame(decoded)
    }

    /// `nil` if it needs more bytes.
    private mutating func preamble() throws(ProtocolError) -> Preamble? {
        guard unread.count >= Preamble.size else {
            // A foreign stream shows in its first bytes, however few have come.
            guard Preamble.mayBegin(unread) else { throw .wrongMagic }
            return nil
        }
        let preamble = try Preamble(decoding: Array(unread.prefix(Preamble.size)))
        start += Preamble.size
        hasPreamble = true
        return preamble
    }

    /// Call it when the link has ended.
    ///
    /// - Throws: `.truncated` in the middle of an element.
    package func finish() throws(ProtocolError) {
        guard unread.isEmpty, hasPreamble, header == nil else { throw .truncated }
    }

    /// The data so far of a DATA that is still coming in, and their size once all are here; `nil` if none have come.
    package var partialData: (bytes: [UInt8], size: Int)? {
        guard let header, header.type == .data else { return nil }
        let size = header.payloadLength - PartData.headerSize
        guard size > 1 else { return nil }
        // Without its checksum a DATA is not complete: its last byte does not count.
        let bytes = unread.dropFirst(FrameHeader.size + PartData.headerSize).prefix(size - 1)
        return bytes.isEmpty ? nil : (Array(bytes), size)
    }

    private var unread: ArraySlice<UInt8> { buffer[start...] }
}
