extension ProtocolError {
    /// The code that tells this error to the other side: `Protocol/README.md` section 7.
    package var code: RefusalCode {
        switch self {
        case .damaged: .damaged
        case .versionNotSupported: .versionNotSupported
        case .unknownFrame: .unknownFrame
        case .encodingNotSupported, .noCommonEncoding, .featureNotSupported: .featureNotSupported
        case .badMessage: .badManifest
        case .truncated, .noEnd, .wrongMagic, .badPreamble, .wrongRole, .payloadTooLong, .inflatedTooLong,
            .outOfOrder, .badPart, .badBlock, .badSignatureFrame, .afterEnd, .incomplete:
            .protocolViolation
        }
    }
}
