/// What the other side did that the protocol does not allow, or what happened to its bytes on the way.
public enum ProtocolError: Error, Hashable, Sendable {
    /// The link ended in the middle of a session.
    case truncated
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
    /// The fields of a block do not fit together, or it is not the next one.
    case badBlock(BlockFlaw)
    /// A piece of a store's rows is not as it must be, or not in its place.
    case badColumns(ColumnsFlaw)
    /// A SIGNATURE frame without a certificate.
    case badSignatureFrame
    /// A block encoding that this version does not know.
    case encodingNotSupported(UInt8)
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
        /// The manifest does not inflate.
        case manifest
        /// The receipt's SHA-256 is not that of the store that was sent.
        case installedStore
    }

    public enum BlockFlaw: Hashable, Sendable {
        /// No encoded bytes.
        case truncated
        /// Out of 1...1,048,576.
        case decodedSize
        /// Over the size of any part, or not where the last block ended.
        case offset
        /// No such part, an earlier one, a later one, or one that is skipped.
        case part
        /// It goes beyond the size that the manifest says.
        case beyondEnd
        /// A window is there only after other bytes.
        case windowAtStart
    }

    public enum ColumnsFlaw: Hashable, Sendable {
        /// No segment.
        case truncated
        /// Bits that mean nothing are set.
        case flags
        /// The store is complete, comes in blocks, or does not come.
        case place
        /// All of them together are longer than the store.
        case beyondEnd
    }
}

extension ProtocolError {
    /// The code under which this is told to the other side: `Protocol/README.md` section 7.
    package var code: RefusalCode {
        switch self {
        case .damaged: .damaged
        case .versionNotSupported: .versionNotSupported
        case .unknownFrame: .unknownFrame
        case .encodingNotSupported, .featureNotSupported: .featureNotSupported
        case .badMessage: .badManifest
        case .truncated, .wrongMagic, .badPreamble, .wrongRole, .payloadTooLong, .outOfOrder, .badBlock, .badColumns,
            .badSignatureFrame, .incomplete:
            .protocolViolation
        }
    }
}
