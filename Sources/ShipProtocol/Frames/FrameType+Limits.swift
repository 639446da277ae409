extension FrameType {
    /// Longest payload, in bytes.
    package var payloadLimit: Int {
        switch self {
        case .hello, .answer, .receipt, .manifest: 1 + jsonLimit
        case .refusal, .cancel: jsonLimit
        case .part: PartOpening.size
        case .data: PartData.headerSize + Limits.segmentSize
        case .signature: Signature.size + Limits.certificateSize
        case .compare, .ranges: Limits.comparisonSize
        case .end, .working, .askable: 0
        case .stay: Stay.size
        case .question: Question.largest
        case .newest: Newest.size
        }
    }

    /// Longest JSON of a message, in bytes.
    var jsonLimit: Int { self == .manifest ? Limits.manifestSize : Limits.messageSize }
}
