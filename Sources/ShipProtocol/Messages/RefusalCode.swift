/// Why a consumer refuses a shipment, or a producer cancels it: the registry of `Protocol/README.md` section 7.
public enum RefusalCode: String, Hashable, Sendable, CaseIterable {
    case versionNotSupported = "version-not-supported"
    case unknownFrame = "unknown-frame"
    case protocolViolation = "protocol-violation"
    case featureNotSupported = "feature-not-supported"
    case damaged
    case badManifest = "bad-manifest"
    case badStore = "bad-store"
    case wrongModel = "wrong-model"
    case wrongSchema = "wrong-schema"
    case probeFailed = "probe-failed"
    case tooLarge = "too-large"
    case noSpace = "no-space"
    case cannotInstall = "cannot-install"
    case held
    case rolledBack = "rolled-back"
    case otherStore = "other-store"
    case missingBase = "missing-base"
    case busy
    case timedOut = "timed-out"
    case stopped
    case notTrusted = "not-trusted"
    case badSignature = "bad-signature"
    case replayed
}

/// The payload of REFUSAL and CANCEL.
///
/// Source: `Protocol/README.md` sections 5.4 and 5.5. Vectors: `refusal_*`, `cancel_*`.
public struct Reason: Hashable, Sendable {
    /// In the other side's words; see `knownCode`.
    public let code: ForeignText
    /// For people, in the other side's words: no code acts upon it.
    public let message: ForeignText
    /// The scope of the end; `nil` for the session.
    let ends: Scope?

    /// The scope of a refusal or a cancellation.
    package enum Scope: String, Hashable, Sendable, Codable {
        case shipment
        case session
    }

    package var scope: Scope { ends ?? .session }

    /// `nil` for a code that this version does not know.
    public var knownCode: RefusalCode? { RefusalCode(rawValue: code.unescaped) }

    /// Removes U+0000 from the message, and cuts it at the limit.
    package init(_ code: RefusalCode, message: String, ending scope: Scope = .session) {
        ends = scope == .session ? nil : scope
        self.code = ForeignText(code.rawValue)
        var message = String(String.UnicodeScalarView(message.unicodeScalars.filter { $0 != "\0" }))
        while message.utf8.count > Limits.reasonLength { message.removeLast() }
        self.message = ForeignText(message)
    }

    /// A refusal that another program wrote down.
    ///
    /// - Returns: `nil` if it breaks a rule of section 5.4.
    package init?(code: ForeignText, message: ForeignText) {
        self.init(code, message, nil)
        if firstFlaw != nil { return nil }
    }

    private init(_ code: ForeignText, _ message: ForeignText, _ ends: Scope?) {
        (self.code, self.message, self.ends) = (code, message, ends)
    }

    /// The same, with another scope.
    package func ending(_ scope: Scope) -> Reason { Reason(code, message, scope == .session ? nil : scope) }
}

extension Reason: Message {
    var firstFlaw: String? {
        guard code.isLabel else { return "code is not a label" }
        guard message.unescaped.utf8.count <= Limits.reasonLength, !message.unescaped.utf8.contains(0) else {
            return "message is no text"
        }
        return nil
    }
}

/// The payload of RECEIPT: the consumer says that a shipment is installed, durable and current, and that it opened read-only.
///
/// Source: `Protocol/README.md` section 5.3. Vectors: `receipt_*`.
public struct Receipt: Hashable, Sendable {
    public let name: StoreName
    /// Numbered from 1 for each name.
    public let generation: Int
    /// Of the installed store, read back from the medium.
    public let sha256: ContentDigest
    public let outcome: Outcome

    public enum Outcome: String, Hashable, Sendable, Codable {
        case installed
        /// The current generation was this very shipment already.
        case unchanged
    }

    package init(name: StoreName, generation: Int, sha256: ContentDigest, outcome: Outcome) {
        self.name = name
        self.generation = generation
        self.sha256 = sha256
        self.outcome = outcome
    }
}

extension Receipt: Message {
    var firstFlaw: String? {
        (1...Limits.generation).contains(generation) ? nil : "generations are numbered from 1 to \(Limits.generation)"
    }
}
