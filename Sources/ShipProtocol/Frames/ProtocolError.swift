/// What the other side did that the protocol does not allow, or what happened to its bytes on the way.
public enum ProtocolError: Error, Hashable, Sendable {
    /// The link ended in the middle of a session.
    case truncated
    /// The link ended between two shipments, and nobody has said that there are no more.
    case noEnd
    /// The first bytes are not those of a ship-store stream.
    case wrongMagic
    /// A field of the preamble is out of range.
    case badPreamble
    /// A checksum is wrong.
    case damaged(Damage)
    /// No version that both sides speak; these are the other side's.
    case versionNotSupported(ClosedRange<UInt8>)
    /// Two producers or two consumers have met.
    case wrongRole
    /// A type of frame that one must know, and this version does not.
    case unknownFrame(UInt8)
    /// A frame declares a payload over the limit of its type, in bytes.
    case payloadTooLong(type: UInt8, length: UInt32, limit: Int)
    /// A frame that the dialogue does not allow here.
    case outOfOrder(UInt8)
    /// A part is opened, or goes on, as it must not.
    case badPart(PartFlaw)
    /// The fields of a block do not fit together, or do not fit its part.
    case badBlock(BlockFlaw)
    /// A SIGNATURE frame without a certificate.
    case badSignatureFrame
    /// An encoding of a part that this version does not know, or that this consumer does not take.
    case encodingNotSupported(UInt8)
    /// The consumer wants a part in encodings of which none is known here.
    case noCommonEncoding(part: Int)
    /// The manifest requires a feature that this version does not know.
    case featureNotSupported(ForeignText)
    /// A manifest or a message breaks a rule; the text says which, for people, and may quote the other side.
    case badMessage(type: UInt8, flaw: ForeignText)
    /// END came before all parts were complete.
    case incomplete

    /// What a wrong checksum was found in.
    public enum Damage: Hashable, Sendable {
        case preamble
        case frame(UInt8)
        /// A message of this type of frame does not inflate.
        case message(UInt8)
        /// The receipt's SHA-256 is not that of the store that was sent.
        case installedStore
    }

    public enum PartFlaw: Hashable, Sendable {
        /// Too few bytes for the fields, or too many.
        case length
        /// Bits that mean nothing are set.
        case flags
        /// Not the next part, or none that is open.
        case place
        /// Not wanted for the part, or the part has come in it before.
        case encoding
        /// Something has come of the part, and it does not begin anew; or nothing has, and it does.
        case anew
        /// It goes on neither at the beginning nor where the consumer said.
        case position
        /// What follows a DATA that was cut is not the rest of it.
        case rest
        /// All that has come of it is longer than may be.
        case tooLong
    }

    public enum BlockFlaw: Hashable, Sendable {
        /// No encoded bytes.
        case truncated
        /// More encoded bytes than a block may have.
        case tooLong
        /// No form that there is.
        case form
        /// Out of 1...1,048,576.
        case decodedSize
        /// It goes beyond the size that the manifest says.
        case beyondEnd
        /// The part's last block and its end do not fall together.
        case end
        /// A window is there only after other bytes.
        case windowAtStart
    }
}

extension ProtocolError {
    /// The code under which this is told to the other side: `Protocol/README.md` section 7.
    package var code: RefusalCode {
        switch self {
        case .damaged: .damaged
        case .versionNotSupported: .versionNotSupported
        case .unknownFrame: .unknownFrame
        case .encodingNotSupported, .noCommonEncoding, .featureNotSupported: .featureNotSupported
        case .badMessage: .badManifest
        case .truncated, .noEnd, .wrongMagic, .badPreamble, .wrongRole, .payloadTooLong, .outOfOrder, .badPart,
            .badBlock,
            .badSignatureFrame, .incomplete:
            .protocolViolation
        }
    }
}
