import ShipProtocol

extension ShipmentError {
    /// The kind of a failure in one word, for programs: a code of `Protocol/README.md` section 7, or one of the words here.
    package var code: String {
        switch self {
        case .refused(let reason), .givenUp(let reason): reason.knownCode?.rawValue ?? "unknown"
        // The link broke, or did not come about.
        case .link: failureRule.refusal?.rawValue ?? "link"
        // The sender's own store, memory or identity.
        case .source, .memory, .identity, .trustList: "local"
        default: failureRule.refusal?.rawValue ?? RefusalCode.protocolViolation.rawValue
        }
    }
}
