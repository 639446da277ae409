/// A breach of the protocol by the other side, or damage to its bytes on the way.
public enum ProtocolError: Error, Hashable, Sendable {
    /// The link ended in the middle of a session.
    case truncated
    /// The link ended between two shipments, without END.
    case noEnd
    /// The first bytes are not those of a ship-store stream.
    case wrongMagic
    /// A field of the preamble is out of range.
    case badPreamble
    /// A checksum is wrong.
    case damaged(Damage)
    /// Both sides speak no common version; these are the other side's.
    case versionNotSupported(ClosedRange<UInt8>)
    /// Two producers or two consumers have met.
    case wrongRole
    /// A mandatory type of frame that this version does not know.
    case unknownFrame(UInt8)
    /// A frame declares a payload over the limit of its type, in bytes.
    case payloadTooLong(type: UInt8, length: UInt32, limit: Int)
    /// A message inflates to more than the limit of its type, in bytes.
    case inflatedTooLong(type: UInt8, limit: Int)
    /// A frame that the dialogue does not allow here.
    case outOfOrder(UInt8)
    /// A PART or DATA that the dialogue does not allow here. The text says for people what is wrong with it.
    case badPart(PrintableText)
    /// The fields of a block do not fit together, or do not fit its part. The text says for people what is wrong with it.
    case badBlock(PrintableText)
    /// A SIGNATURE frame without a certificate.
    case badSignatureFrame
    /// An encoding of a part that this version does not know, or that this consumer does not take.
    case encodingNotSupported(UInt8)
    /// The consumer wants a part in encodings that this version does not know.
    case noCommonEncoding(part: Int)
    /// The manifest requires a feature that this version does not know.
    case featureNotSupported(ForeignText)
    /// A manifest or a message breaks a rule. The text names the rule for people, and may quote the other side.
    case badMessage(type: UInt8, flaw: ForeignText)
    /// Something comes after the last END, which is not received.
    case afterEnd
    /// END came before all parts were complete.
    case incomplete

    /// Where a checksum is wrong.
    public enum Damage: Hashable, Sendable {
        case preamble
        case frame(UInt8)
        /// A message of this type of frame does not inflate.
        case message(UInt8)
        /// The receipt's SHA-256 is not that of the store that was sent.
        case installedStore
    }
}
