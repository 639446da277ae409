import ShipProtocol
import StoreOperations
import SystemPackage

/// An error in words for people: what happened, and what to do next.
///
/// The words are here, not on the command line, because a refusal carries them to the other side.
public struct Explanation: Hashable, Sendable {
    /// What happened, to what. Lower case, no full stop; fit for a terminal, whatever the other side wrote.
    public let cause: String
    /// What to do next, if there is something to do.
    public let hint: String?

    /// Whatever is put into the words is escaped: paths and names of others are in them.
    init(_ cause: PrintableText, hint: PrintableText? = nil) {
        self.cause = cause.text
        self.hint = hint?.text
    }
}

extension Explanation {
    fileprivate func telling(_ leftovers: Leftovers) -> Explanation {
        var parts: [String] = []
        if let copy = leftovers.safetyCopy { parts.append("the copy \(copy)") }
        if let first = leftovers.externalFiles.first {
            let count = leftovers.externalFiles.count
            let folder = first.removingLastComponent().removingLastComponent()
            parts.append("\(count) new external file\(count == 1 ? "" : "s") in \(folder)")
        }
        let words = "left behind: \(parts.joined(separator: " and ")), which the next restore uses or removes"
        return Explanation("\(cause)", hint: hint.map { "\($0) (\(words))" } ?? "\(words)")
    }
}

extension ShipmentError {
    public var explanation: Explanation {
        switch self {
        case .source(let error): error.explanation
        case .link(let error): error.explanation
        case .protocolBroken(let error): error.explanation
        case .badFile(let error): error.explanationOfFile
        case .compression(let error): error.explanation
        case .badStore(let flaw): flaw.explanation
        case .tooMuch(let excess): excess.explanation
        case .unwelcome(let objection): objection.explanation
        case .probe(let failure): failure.explanation
        case .model(let error): error.explanation
        case .install(let error): error.explanation
        case .serving(let error): error.explanation
        case .metadata(let error): error.explanation
        case .file(let error): error.explanation
        case .operation(let error): error.explanation
        case .report(let error): error.explanation
        case .unfinished(let error, let leftovers): error.explanation.telling(leftovers)
        case .memory(let error): error.explanation
        case .notRemembered(let name):
            Explanation("nothing is remembered of \(name)", hint: "see `ship-store bases`")
        case .identity(let error): error.explanation
        case .trustList(let error): error.explanation
        case .pairing(let error): error.explanation
        case .noSuchPeer(let text):
            Explanation(
                "no device of that id or name is trusted: \(text)", hint: "see `ship-store peers`")
        case .sameName(let name):
            Explanation(
                "two of the stores would be shipped as \(name)", hint: "send them one by one, with --name")
        case .overdue(let overdue): overdue.explanation
        case .refused(let reason):
            Explanation("the receiver refused the shipment: \(reason.words)", hint: reason.hint)
        case .givenUp(let reason):
            Explanation("the sender gave up: \(reason.words)", hint: "send again what has not arrived")
        case .notAllowed(let name, .sender):
            Explanation("the sender may not send \(name) here", hint: "`ship-store trust ID --store \(name)` lets it")
        case .notAllowed(let name, .receiver):
            Explanation(
                "the receiver may not be sent \(name)", hint: "`ship-store trust ID --store \(name)` lets it be")
        case .signature(let error): error.explanation
        case .unsigned(let name, let place):
            Explanation(
                "nobody has signed this shipment of \(name), and files are taken only from trusted devices"
                    + (place == .standardInput ? "; the standard input is a file" : ""),
                hint: "make it anew with `ship-store send --to FILE --sign`; --unsigned takes it all the same")
        case .unknownSigner(let id):
            Explanation(
                "the device that signed this shipment is not trusted to send (its id is \(id))",
                hint: "if it is the one that you mean, say `ship-store trust \(id)`; --unsigned takes it all the same")
        case .missingBase(let name, let digest):
            Explanation(
                "the shipment says what differs from a copy of \(name) that is not here, or came from another sender: "
                    + "its SHA-256 is \(digest)",
                hint: "say here `ship-store holdings --into INBOX > FILE`, with --for SENDER if it signs, and there "
                    + "`ship-store send STORE --for FILE --to SHIPMENT`, or leave --for and --since out")
        case .notWhole(let path, let name, let base):
            Explanation(
                "\(path) says what differs from another copy of \(name), and is nothing without it: its SHA-256 is \(base)",
                hint:
                    "a receiver that holds that copy takes it: `ship-store receive --into INBOX --from FILE`; what is "
                    + "to be looked at, or to be given with --since, has to be sent without --for and --since")
        case .badHoldings(let path, let flaw):
            Explanation(
                "\(path) does not say what a receiver holds: \(flaw)",
                hint: "have it written by `ship-store holdings --into INBOX > FILE` at the receiver")
        case .cannotAnswer:
            Explanation(
                "the sender awaits an answer, and there is no way back on this link",
                hint:
                    "keep shipments with `send --to FILE`, which awaits none; without --json `receive --from -` answers"
            )
        case .stopped: Explanation("stopped before it was done", hint: "nothing has changed; start again")
        case .sqlite(let message): Explanation("SQLite cannot open what was installed: \(message)")
        case .unforeseen(let error):
            Explanation("something happened that nobody has thought of: \(error)", hint: "please report it")
        }
    }
}

extension Reason {
    /// The other side's words, or at least its code.
    fileprivate var words: ForeignText { message.unescaped.isEmpty ? code : message }
    /// What to do about a refusal of the other side, where there is something that this side can do.
    fileprivate var hint: PrintableText? {
        switch knownCode {
        case .wrongModel: "update the reader there, or send a store of the model that it knows"
        case .wrongSchema: "update the reader there, or send a store of a schema that it knows"
        case .probeFailed: "the store there stays as it was; look into this one with `ship-store inspect`"
        case .rolledBack:
            "send another state of the store, or ask the operator there to say "
                + "`ship-store rollback NAME --into INBOX --allow-again`"
        case .otherStore:
            "send it under another name with --name, or ask the operator there to say "
                + "`ship-store receive --replace NAME`"
        case .tooLarge:
            "ask the operator there to allow more (`ship-store receive --help`), or leave something out: "
                + "`ship-store send --help`"
        case .notTrusted:
            "ask the operator there to say `ship-store trust ID --store NAME`, "
                + "or --takes-over NAME if another device sent it before"
        case .replayed:
            "send it again; if that does not help, ask the operator there to say "
                + "`ship-store trust ID --takes-over NAME`"
        case .missingBase: "send it whole: without --for and --since"
        case .versionNotSupported, .unknownFrame, .protocolViolation, .featureNotSupported, .damaged, .badManifest,
            .badSignature,
            .badStore, .noSpace, .cannotInstall, .busy, .timedOut, .stopped,
            nil:
            nil
        }
    }
}
