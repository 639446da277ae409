import ShipStore
import Synchronization

/// Tells of shipments that come in, in words or as JSON.
struct ReceiveReporter: Sendable {
    enum Failures: Hashable { case told, leftToTheEnd }

    private let console: Console
    private let failures: Failures
    private let format: SendReporter.DataFormat
    private let bar: ProgressBar
    private let lastWords = LastWords()

    /// - Parameter failures: Who tells of a shipment that failed: where the program ends with it, its last words do.
    init(_ console: Console, _ format: SendReporter.DataFormat, failures: Failures) {
        self.console = console
        self.failures = failures
        self.format = format
        bar = ProgressBar(on: console)
    }

    @Sendable func report(_ report: ReceiveReport) {
        func emit(_ line: ReceiveLine) { self.emit(line, in: report.session) }
        switch report.event {
        case .listening(let address):
            console.say("listening on \(address)")
            emit(ReceiveLine(event: "listening", address: address))
        case .connected(let peer):
            emit(ReceiveLine(event: "connected", peer: peer))
        case .reading(let input):
            console.say("reading the standard input, which is a \(input.rawValue)")
            emit(ReceiveLine(event: "reading", input: input.rawValue))
        case .turnedAway(let peer, let error):
            console.say("turned away \(peer): \(error.explanation.cause)")
            emit(
                ReceiveLine(
                    event: "turned-away", peer: peer, error: error.explanation.cause, hint: error.explanation.hint))
        case .pairing(let code):
            console.say("pairing code: \(code.text) (for two minutes, and five tries)")
            emit(ReceiveLine(event: "pairing", code: code.text))
        case .paired(let peer):
            console.say("paired with \(peer.name): it \(peer.rights)")
            emit(ReceiveLine(event: "paired", device: peer))
        case .offered(let manifest):
            if let words = lastWords.release() { console.say(words) }
            console.say("receiving \(manifest.name): \(manifest.summary) of \(manifest.createdAt)")
            emit(ReceiveLine(event: "offered", manifest: manifest))
        case .signed(let id):
            console.say("signed by \(id)")
            emit(ReceiveLine(event: "signed", signer: id))
        case .admitted(let model):
            console.say("the store's model is \(model)")
            emit(ReceiveLine(event: "admitted", model: model))
        case .progress(let done, let total):
            bar.show(done: done, total: total)
            emit(ReceiveLine(event: "progress", done: done, total: total))
        case .wentOn(let done, let total):
            // Of a delta's first segment nothing is a store yet.
            let share: PrintableText = done > 0 ? ": \(Figures.bytes(done)) of \(Figures.bytes(total)) are here" : ""
            console.say("going on where it broke off\(share)")
            emit(ReceiveLine(event: "resumed", done: done, total: total))
        case .verifying:
            console.show("verifying")
            emit(ReceiveLine(event: "verifying"))
        case .checked(let found):
            if let words = Self.words(for: found.foreignKeys) { console.warn(words) }
            emit(ReceiveLine(event: "checked", check: CheckLine(found)))
        case .askedAgain:
            console.say("the store could not be made from its rows; asking for it as it is")
            emit(ReceiveLine(event: "asked-again"))
        case .finished(let receipt, let duration):
            let what = receipt.outcome == .installed ? "installed" : "unchanged:"
            console.say(
                "\(what) \(receipt.name), generation \(receipt.generation), in \(Figures.duration(duration))")
            emit(ReceiveLine(event: "finished", receipt: receipt, seconds: duration / .seconds(1)))
        case .failed(let error):
            let explanation = error.explanation
            let words: PrintableText = "not installed: \(explanation.cause)"
            if failures == .told || !lastWords.keep(words) { console.say(words) }
            emit(ReceiveLine(event: "failed", error: explanation.cause, hint: explanation.hint))
        }
    }

    private static func words(for foreignKeys: CheckReport.ForeignKeys) -> PrintableText? {
        switch foreignKeys {
        case .sound: nil
        case .violated(let rows):
            rows == 1
                ? "one row of the store refers to a row that is not there"
                : "\(rows)\(rows == CheckReport.ForeignKeys.most ? " or more" : "") rows of the store refer to rows that "
                    + "are not there"
        case .unclear(let words): "the foreign keys of the store cannot be checked: \(words)"
        }
    }

    private func emit(_ line: ReceiveLine, in session: ReceiveReport.Session?) {
        guard format == .json else { return }
        var line = line
        (line.session, line.name) = (session?.number, session?.name?.text)
        line.peer = line.peer ?? session?.peer
        Output.write(json: line)
    }
}

/// Why the first shipment failed, which is what the program ends with: it is told earlier only where others follow.
private final class LastWords: Sendable {
    private enum State { case none, kept(PrintableText), released }
    private let state = Mutex(State.none)

    /// - Returns: `false` if they are not the first.
    func keep(_ words: PrintableText) -> Bool {
        state.withLock { state in
            guard case .none = state else { return false }
            state = .kept(words)
            return true
        }
    }

    func release() -> PrintableText? {
        state.withLock { state in
            guard case .kept(let words) = state else { return nil }
            state = .released
            return words
        }
    }
}

/// What the checks of a store found.
private struct CheckLine: Encodable {
    /// `quick` or `full`.
    let depth: String
    /// Rows that refer to rows that are not there, up to 1,000; `null` if that cannot be told.
    let foreignKeyViolations: Int?
    let foreignKeyError: ForeignText?

    init(_ report: CheckReport) {
        depth = report.depth.rawValue
        switch report.foreignKeys {
        case .sound: (foreignKeyViolations, foreignKeyError) = (0, nil)
        case .violated(let rows): (foreignKeyViolations, foreignKeyError) = (rows, nil)
        case .unclear(let words): (foreignKeyViolations, foreignKeyError) = (nil, words)
        }
    }
}

/// One line of `receive --json`.
private struct ReceiveLine: Encodable {
    let event: String
    let time = EventTime()
    var session: Int?
    var name: String?
    var address: String?
    var peer: String?
    var input: String?
    var code: String?
    var device: TrustedPeer?
    var signer: DeviceIdentifier?
    var manifest: Manifest?
    var model: ForeignText?
    var check: CheckLine?
    var receipt: Receipt?
    var done: Int64?
    var total: Int64?
    var seconds: Double?
    var error: String?
    var hint: String?
}
