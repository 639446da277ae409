import EssentialFoundation
public import ShipStore

/// What one half says to the other, as a dictionary of texts: small, and each of itself.
///
/// | key | in | value |
/// |---|---|---|
/// | `ship-store` | all | the version: `1` |
/// | `message` | all | `ask`, `store` or `answer` |
/// | `token` | `ask`, `store` | 32 digits of `0-9a-f`, drawn at random for each |
/// | `token` | `answer` | that of what it answers; absent where nobody asked |
/// | `name` | `store` | the store's name |
/// | `over` | `store` | the id of the content (`Protocol/README.md` section 4.11) that is to be current; absent for nothing |
/// | `outcome` | `answer` to a `store` | `installed`, `unchanged`, `outdated` or `refused` |
/// | `code`, `reason` | `answer`, `refused` | as in REFUSAL (section 5.4) |
/// | `holdings` | `answer` | a holdings file (section 5.6) |
/// | `file` | `answer` | where that is too long for a dictionary: it is the content of a file, of this name at the sender |
enum TransferMessage: Hashable, Sendable {
    /// The phone: what do you hold?
    case ask(Token)
    /// The phone, with a file: a shipment.
    case store(Offer)
    /// The watch: what it holds, and what became of a shipment.
    case answer(Answer)

    struct Offer: Hashable, Sendable {
        let token: Token
        let name: StoreName
        /// What the sender takes for current at the receiver; `nil` for nothing.
        let over: ManifestContent.ID?
    }

    struct Answer: Hashable, Sendable {
        /// What it answers; `nil` if nobody asked.
        let token: Token?
        /// What became of a shipment; `nil` if it answers no such thing.
        let outcome: Outcome?
        let holdings: HoldingsFile
    }

    /// What became of a shipment.
    enum Outcome: Hashable, Sendable {
        case installed
        /// It was current already.
        case unchanged
        /// Something else is current than the sender thought: it was not looked at.
        case outdated
        case refused(Reason)
    }

    /// What a message can be referred to by.
    struct Token: Hashable, Sendable, Codable {
        let text: String

        init() { text = UUID().uuidString.lowercased().filter { $0 != "-" } }

        init?(_ text: String) {
            guard text.utf8.count == 32, text.utf8.allSatisfy(Self.isDigit) else { return nil }
            self.text = text
        }

        private static func isDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
    }

    static let version = "1"
    /// Longest dictionary that is sent, in bytes of its keys and values: what is around them takes the rest of 65,536.
    static let sizeLimit = 60_000

    /// The names of the entries.
    enum Key {
        static let version = "ship-store"
        static let message = "message"
        static let token = "token"
        static let name = "name"
        static let over = "over"
        static let outcome = "outcome"
        static let code = "code"
        static let reason = "reason"
        static let holdings = "holdings"
        static let file = "file"
    }
}

extension TransferMessage {
    /// As it goes. What an answer holds may be too long for it.
    var entries: [String: String] {
        var entries = [Key.version: Self.version]
        switch self {
        case .ask(let token):
            entries[Key.message] = "ask"
            entries[Key.token] = token.text
        case .store(let offer):
            entries[Key.message] = "store"
            entries[Key.token] = offer.token.text
            entries[Key.name] = offer.name.text
            entries[Key.over] = offer.over?.hex
        case .answer(let answer):
            entries[Key.message] = "answer"
            entries[Key.token] = answer.token?.text
            entries[Key.holdings] = String(decoding: answer.holdings.encoded, as: UTF8.self)
            switch answer.outcome {
            case nil: break
            case .installed: entries[Key.outcome] = "installed"
            case .unchanged: entries[Key.outcome] = "unchanged"
            case .outdated: entries[Key.outcome] = "outdated"
            case .refused(let reason):
                entries[Key.outcome] = "refused"
                entries[Key.code] = reason.code.unescaped
                entries[Key.reason] = reason.message.unescaped
            }
        }
        return entries
    }

    /// Whether these are an answer that nobody asked for.
    static func isUnasked(_ entries: [String: String]) -> Bool {
        entries[Key.version] == version && entries[Key.message] == "answer" && entries[Key.token] == nil
    }

    /// Bytes of keys and values.
    static func size(of entries: [String: String]) -> Int {
        entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }
}

/// Why what came over a session is no message of this exchange. It changes nothing; the other half asks again in time.
public enum TransferMessageError: Error, Hashable, Sendable {
    /// The other half is of a version that this one does not know.
    case otherVersion(ForeignText)
    /// An entry is missing.
    case missing(key: String)
    /// An entry is not what it should be.
    case malformed(key: String)
    /// It is no kind of message, or one that only the other half understands.
    case notForThisHalf
    /// What the other half says that it holds cannot be read.
    case badHoldings(ForeignText)
    /// What came as a file cannot be read, or not be kept.
    case file(FileError)
    /// Too many files wait to be taken in.
    case tooMany
}

extension TransferMessage {
    /// Whether a dictionary is one of this exchange, of whatever version: the app's own are not.
    static func isOurs(_ entries: [String: Any]) -> Bool { entries[Key.version] != nil }

    /// - Parameters:
    ///   - entries: A dictionary that came.
    ///   - holdings: What stands in the file that came with it, if one did.
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
            guard let text = try text(Key.token, atMost: 64) else { return nil }
            guard let token = Token(text) else { throw .malformed(key: Key.token) }
            return token
        }
        func knownToken() throws(TransferMessageError) -> Token {
            guard let token = try token() else { throw .missing(key: Key.token) }
            return token
        }
        guard let version = try text(Key.version, atMost: 64) else { throw .missing(key: Key.version) }
        guard version == Self.version else { throw .otherVersion(ForeignText(version)) }
        switch try text(Key.message, atMost: 64) {
        case "ask": self = .ask(try knownToken())
        case "store":
            guard let name = try text(Key.name, atMost: Limits.nameLength) else { throw .missing(key: Key.name) }
            guard let name = StoreName(name) else { throw .malformed(key: Key.name) }
            let over = try text(Key.over, atMost: 32)
            let content = over.flatMap { ManifestContent.ID(hex: $0) }
            guard over == nil || content != nil else { throw .malformed(key: Key.over) }
            self = .store(Offer(token: try knownToken(), name: name, over: content))
        case "answer":
            let outcome: Outcome?
            switch try text(Key.outcome, atMost: 64) {
            case nil: outcome = nil
            case "installed": outcome = .installed
            case "unchanged": outcome = .unchanged
            case "outdated": outcome = .outdated
            case "refused":
                guard let code = try text(Key.code, atMost: Limits.labelLength) else { throw .missing(key: Key.code) }
                let words = try text(Key.reason, atMost: Limits.reasonLength) ?? ""
                guard let reason = Reason(code: ForeignText(code), message: ForeignText(words)) else {
                    throw .malformed(key: Key.reason)
                }
                outcome = .refused(reason)
            default: throw .malformed(key: Key.outcome)
            }
            let token = try token()
            var bytes = try text(Key.holdings, atMost: Limits.messageSize).map { Array($0.utf8) }
            if bytes == nil { bytes = try holdings() }
            guard let bytes else { throw .missing(key: Key.holdings) }
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
