import EssentialFoundation
public import ShipStore

/// A message of one half to the other, as a small dictionary of texts. Each message can be understood alone.
///
/// | key | in | value |
/// |---|---|---|
/// | `ship-store` | all | the version: `1` |
/// | `message` | all | `ask`, `store` or `answer` |
/// | `token` | `ask`, `store` | 32 digits of `0-9a-f`, drawn at random for each |
/// | `token` | `answer` | the token of the message that it answers; absent in an announcement |
/// | `name` | `store` | the store's name |
/// | `over` | `store` | the id of the content (`Protocol/README.md` section 4.11) that must be current; absent for none |
/// | `outcome` | `answer` to a `store` | `installed`, `unchanged`, `outdated` or `refused` |
/// | `code`, `reason` | `answer`, `refused` | as in REFUSAL (section 5.4) |
/// | `holdings` | `answer` | a holdings file (section 5.6) |
/// | `file` | `answer` | instead of `holdings` that are too long: the name, at its sender, of the file that holds them |
enum TransferMessage: Hashable, Sendable {
    /// The sender asks what the receiver holds.
    case ask(Token)
    /// The sender sends a shipment, as a file. `over` is the content that the sender believes current at the receiver; `nil` for none.
    case store(Token, name: StoreName, over: ManifestContent.ID?)
    /// The receiver says what it holds, and the outcome of a shipment.
    case answer(Answer)

    struct Answer: Hashable, Sendable {
        /// The token of the message that it answers; `nil` in an announcement, which answers none.
        let token: Token?
        /// The outcome of a shipment; `nil` if it answers no shipment.
        let outcome: Outcome?
        let holdings: HoldingsFile
    }

    enum Outcome: Hashable, Sendable {
        case installed
        /// It was current already.
        case unchanged
        /// Another content is current than the sender believed, so the receiver did not read the shipment.
        case outdated
        case refused(Reason)
    }

    /// Identifies a message.
    struct Token: Hashable, Sendable, Codable {
        let text: String

        init() { text = UUID().uuidString.lowercased().filter { $0 != "-" } }

        init?(_ text: String) {
            guard ContentDigest.bytes(16, ofHex: text) != nil else { return nil }
            self.text = text
        }
    }

    static let version = "1"
    /// Longest dictionary to send, in bytes of its keys and values. The property list around them takes the rest of 65,536.
    static let sizeLimit = 60_000

    static let versionKey = "ship-store"
    static let holdingsKey = "holdings"
    static let fileKey = "file"
}

extension TransferMessage {
    /// The dictionary. With the holdings of an answer it may be longer than `sizeLimit`.
    var entries: [String: String] {
        var entries = [Self.versionKey: Self.version]
        switch self {
        case .ask(let token):
            entries["message"] = "ask"
            entries["token"] = token.text
        case .store(let token, let name, let over):
            entries["message"] = "store"
            entries["token"] = token.text
            entries["name"] = name.text
            entries["over"] = over?.hex
        case .answer(let answer):
            entries["message"] = "answer"
            entries["token"] = answer.token?.text
            entries[Self.holdingsKey] = String(decoding: answer.holdings.jsonBytes, as: UTF8.self)
            switch answer.outcome {
            case nil: break
            case .installed: entries["outcome"] = "installed"
            case .unchanged: entries["outcome"] = "unchanged"
            case .outdated: entries["outcome"] = "outdated"
            case .refused(let reason):
                entries["outcome"] = "refused"
                entries["code"] = reason.code.unescaped
                entries["reason"] = reason.message.unescaped
            }
        }
        return entries
    }

    /// Whether these are an announcement: an answer without a token.
    static func isAnnouncement(_ entries: [String: String]) -> Bool {
        entries[Self.versionKey] == version && entries["message"] == "answer" && entries["token"] == nil
    }

    /// Bytes of keys and values.
    static func size(of entries: [String: String]) -> Int {
        entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }
}

/// Why a message that came over a session is not valid. It changes nothing; the other half asks again later.
public enum TransferMessageError: Error, Hashable, Sendable {
    /// The other half is of a version that this one does not know.
    case otherVersion(ForeignText)
    /// An entry is missing.
    case missing(key: String)
    /// An entry has a wrong value.
    case malformed(key: String)
    /// Its kind is unknown, or only the other half reads it.
    case notForThisHalf
    /// The holdings of the other half cannot be read.
    case badHoldings(ForeignText)
    /// A file that came cannot be read, or not be kept.
    case file(FileError)
    /// Too many files wait to be installed.
    case tooMany
}

extension TransferMessageError: FileErrorWrapping {}

extension TransferMessage {
    /// Whether a dictionary belongs to an exchange of stores, of any version; the app's own do not.
    static func isOurs(_ entries: [String: Any]) -> Bool { entries[Self.versionKey] != nil }

    /// - Parameter holdings: Reads the file that came with it, if one did.
    init(
        _ entries: [String: Any],
        holdings: () throws(TransferMessageError) -> [UInt8]? = { () throws(TransferMessageError) in nil }
    ) throws(TransferMessageError) {
        func text(_ key: String, atMost limit: Int) throws(TransferMessageError) -> String? {
            guard let value = entries[key] else { return nil }
            guard let text = value as? String, text.utf8.count <= limit else { throw .malformed(key: key) }
            return text
        }
        func token() throws(TransferMessageError) -> Token? {
            guard let text = try text("token", atMost: 64) else { return nil }
            guard let token = Token(text) else { throw .malformed(key: "token") }
            return token
        }
        func knownToken() throws(TransferMessageError) -> Token {
            guard let token = try token() else { throw .missing(key: "token") }
            return token
        }
        guard let version = try text(Self.versionKey, atMost: 64) else { throw .missing(key: Self.versionKey) }
        guard version == Self.version else { throw .otherVersion(ForeignText(version)) }
        switch try text("message", atMost: 64) {
        case "ask": self = .ask(try knownToken())
        case "store":
            guard let name = try text("name", atMost: Limits.nameLength) else { throw .missing(key: "name") }
            guard let name = StoreName(name) else { throw .malformed(key: "name") }
            let over = try text("over", atMost: 32)
            let content = over.flatMap { ManifestContent.ID(hex: $0) }
            guard over == nil || content != nil else { throw .malformed(key: "over") }
            self = .store(try knownToken(), name: name, over: content)
        case "answer":
            let outcome: Outcome?
            switch try text("outcome", atMost: 64) {
            case nil: outcome = nil
            case "installed": outcome = .installed
            case "unchanged": outcome = .unchanged
            case "outdated": outcome = .outdated
            case "refused":
                guard let code = try text("code", atMost: Limits.labelLength) else { throw .missing(key: "code") }
                let words = try text("reason", atMost: Limits.reasonLength) ?? ""
                guard let reason = Reason(code: ForeignText(code), message: ForeignText(words)) else {
                    throw .malformed(key: "reason")
                }
                outcome = .refused(reason)
            default: throw .malformed(key: "outcome")
            }
            let token = try token()
            var bytes = try text(Self.holdingsKey, atMost: Limits.messageSize).map { Array($0.utf8) }
            if bytes == nil { bytes = try holdings() }
            guard let bytes else { throw .missing(key: Self.holdingsKey) }
            self = .answer(Answer(token: token, outcome: outcome, holdings: try Self.holdings(in: bytes)))
        default: throw .notForThisHalf
        }
    }

    private static func holdings(in bytes: [UInt8]) throws(TransferMessageError) -> HoldingsFile {
        do throws(ProtocolError) {
            return try HoldingsFile(decoding: bytes)
        } catch .badMessage(_, let flaw) {
            throw .badHoldings(flaw)
        } catch {
            throw .badHoldings("it is no such file")
        }
    }
}
