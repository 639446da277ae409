import ShipStore

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
