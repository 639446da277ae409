/// Cuts what comes over a link into its preamble and frames. Bytes go in as they come, elements come out when they are
/// whole; it holds at most one frame and one piece of input.
///
/// Source: `Protocol/README.md` sections 3.1 and 3.2. Vectors: `stream_*`, `dialogue_*`.
package struct FrameParser: Sendable {
    /// What a stream is made of.
    package enum Element: Hashable, Sendable {
        case preamble(Preamble)
        case frame(Frame)
        /// A frame that this version does not know, and need not.
        case unknownOptionalFrame
    }

    private enum State: Hashable, Sendable {
        case awaitingPreamble
        case awaitingHeader
        case awaitingRest(FrameHeader)
    }

    private var state = State.awaitingPreamble
    private var buffer: [UInt8] = []
    /// Where in the buffer the unread bytes begin.
    private var start = 0

    /// Bytes so far of frames that say nothing: WORKING, and optional ones that this version does not know. Who sends only
    /// these keeps a link open, and does nothing else.
    package private(set) var emptyBytes: Int64 = 0

    /// The payload of a MANIFEST that came after a SIGNATURE, as it came: what the signature covers.
    package private(set) var signedPayload: [UInt8]?
    private var isSigned = false

    /// What a manifest may refer to.
    package var held = HeldContents()
    /// What was offered last, by either side: what an answer may refer to.
    package var offer: OfferedManifest?
    /// What the manifest that came last refers to.
    package private(set) var base: ManifestContent.ID?

    package init() {}

    package mutating func append(_ bytes: [UInt8]) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    /// The next whole element, or `nil` if more bytes are needed.
    package mutating func next() throws(ProtocolError) -> Element? {
        while true {
            switch state {
            case .awaitingPreamble:
                guard unread.count >= Preamble.size else {
                    // Foreign streams are told from the first bytes on, however few there are.
                    if !unread.isEmpty { try Self.checkMagic(Array(unread)) }
                    return nil
                }
                let preamble = try Preamble(decoding: Array(unread.prefix(Preamble.size)))
                start += Preamble.size
                state = .awaitingHeader
                return .preamble(preamble)
            case .awaitingHeader:
                guard unread.count >= FrameHeader.size else { return nil }
                state = .awaitingRest(try FrameHeader(decoding: unread.prefix(FrameHeader.size)))
            case .awaitingRest(let header):
                let checksumStart = FrameHeader.size + header.payloadLength
                guard unread.count >= checksumStart + 4 else { return nil }
                let frame = unread.prefix(checksumStart + 4)
                guard Checksum.crc32(of: frame.dropLast(4)) == UInt32(bigEndianBytes: frame.suffix(4)) else {
                    throw .damaged(.frame(frame[frame.startIndex]))
                }
                start += frame.count
                state = .awaitingHeader
                guard let type = header.type else {
                    emptyBytes += Int64(frame.count)
                    return .unknownOptionalFrame
                }
                if type == .working { emptyBytes += Int64(frame.count) }
                let payload = frame.dropFirst(FrameHeader.size).dropLast(4)
                if type == .signature { isSigned = true }
                if type == .manifest, isSigned { signedPayload = Array(payload) }
                let decoded = try Frame(type: type, payload: payload, over: held, answering: offer)
                if case .manifest(let manifest) = decoded {
                    base = PackedMessage.base(ofManifest: payload)
                    offer = OfferedManifest(manifest, over: base.flatMap { held[$0] })
                }
                return .frame(decoded)
            }
        }
    }

    /// To be called when the link has ended.
    ///
    /// - Throws: `.truncated` in the middle of an element.
    package func finish() throws(ProtocolError) {
        guard unread.isEmpty, state == .awaitingHeader else { throw .truncated }
    }

    /// Of a DATA that is on its way, what is here of its data, and how many there are to be; `nil` unless there is some, and some is
    /// missing.
    package var dataOnTheWay: (bytes: [UInt8], size: Int)? {
        guard case .awaitingRest(let header) = state, header.type == .data else { return nil }
        let size = header.payloadLength - PartData.headerSize
        guard size > 1 else { return nil }
        // The last byte of a whole one is not believed without its checksum.
        let bytes = unread.dropFirst(FrameHeader.size + PartData.headerSize).prefix(size - 1)
        return bytes.isEmpty ? nil : (Array(bytes), size)
    }

    private var unread: ArraySlice<UInt8> { buffer[start...] }

    private static func checkMagic(_ bytes: [UInt8]) throws(ProtocolError) {
        do throws(ProtocolError) {
            _ = try Preamble(decoding: bytes)
        } catch {
            if error != .truncated { throw error }
        }
    }
}
