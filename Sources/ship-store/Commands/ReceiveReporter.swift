import ShipStore
import Synchronization

/// Tells of shipments that come in, in words or as JSON.
final class ReceiveReporter: Sendable {
    /// Why the first shipment failed, which the program ends with: it is told earlier only where other shipments follow.
    private enum FirstFailure { case none, kept(PrintableText, LogSubject), released }

    private let console: Console
    private let tellsFailures: Bool
    private let writesJSON: Bool
    private let metrics: Metrics?
    private let bar: ProgressBar
    private let firstFailure = Mutex(FirstFailure.none)
    /// Whether there has been a connection since the last one was lost.
    private let isConnected = Mutex(false)

    /// - Parameter tellsFailures: Whether it tells of each shipment that failed. Where the program ends with the first one,
    ///   its last words do.
    init(_ console: Console, writesJSON: Bool, tellsFailures: Bool, _ metrics: Metrics? = nil) {
        self.console = console
        self.tellsFailures = tellsFailures
        self.writesJSON = writesJSON
        self.metrics = metrics
        bar = ProgressBar(on: console)
    }

    @Sendable func report(_ report: ReceiveReport) {
        metrics?.observe(report)
        let session = report.session
        func subject(_ event: String) -> LogSubject {
            LogSubject(event: event, session: session?.number, peer: session?.peer, store: session?.name)
        }
        func emit(_ event: String, _ members: JSONObject = [:]) {
            guard writesJSON else { return }
            let place: JSONObject = ["session": session?.number, "name": session?.name?.text, "peer": session?.peer]
            // An event that names its peer itself keeps that one.
            Output.write(.event(event, members.adding(place)))
        }
        func tell(_ event: String, _ words: PrintableText, _ members: JSONObject = [:]) {
            console.say(words, about: subject(event))
            emit(event, members)
        }
        switch report.event {
        case .listener(let event):
            event.tell(on: console)
            let (name, members) = event.output
            emit(name, members)
        case .connected(let peer):
            isConnected.withLock { $0 = true }
            emit("connected", ["peer": peer])
        case .reading(let input):
            tell("reading", "reading the standard input, which is a \(input.rawValue)", ["input": input.rawValue])
        case .offered(let manifest):
            if let (words, subject) = releaseFirstFailure() { console.say(words, about: subject) }
            tell(
                "offered", "receiving \(manifest.name): \(manifest.summary) of \(manifest.createdAt)",
                ["manifest": manifest])
        case .signed(let id): tell("signed", "signed by \(id)", ["signer": id])
        case .admitted(let model): tell("admitted", "the store's model is \(model)", ["model": model])
        case .progress(let done, let total):
            bar.show(done: done, total: total)
            emit("progress", ["done": done, "total": total])
        case .wentOn(let done, let total):
            // The first segment of a delta makes no bytes of the store.
            let share: PrintableText = done > 0 ? ": \(Figures.bytes(done)) of \(Figures.bytes(total)) are here" : ""
            tell("resumed", "going on where it broke off\(share)", ["done": done, "total": total])
        case .verifying:
            console.show("verifying")
            emit("verifying")
        case .checked(let found):
            if let words = Self.words(for: found.foreignKeys) { console.warn(words, about: subject("checked")) }
            emit("checked", ["check": found.json])
        case .askedAgain:
            tell("asked-again", "the store could not be made from its rows; asking for it as it is")
        case .finished(let receipt, let duration):
            let what = receipt.outcome == .installed ? "installed" : "unchanged:"
            tell(
                "finished",
                "\(what) \(receipt.name), generation \(receipt.generation), in \(Figures.duration(duration))",
                // One of a publication has no session, which names its store.
                ["name": receipt.name.text, "receipt": receipt, "seconds": duration / .seconds(1)])
        case .halted(let name, let since):
            tell(
                "halted", "\(name) stays as it is: its publisher has halted it at \(since)",
                ["name": name.text, "since": since.text])
        case .waiting(let name, let until):
            let words = until.map { "from \($0) on" } ?? "once its publisher has said so"
            tell(
                "waiting", "a newer state of \(name) is being rolled out; this device takes it \(words)",
                ["name": name.text, "until": until?.text])
        case .disconnected(let error):
            let wasConnected = isConnected.withLock { isConnected in
                defer { isConnected = false }
                return isConnected
            }
            tell(
                "disconnected",
                wasConnected ? "no longer connected: \(error.cause)" : "\(error.cause); trying again",
                ["error": error.cause.text, "hint": error.hint?.text])
        case .failed(let error):
            let words: PrintableText = "not installed: \(error.cause)"
            if tellsFailures || !keepLastWords(words, subject("failed")) {
                console.say(words, about: subject("failed"))
            }
            emit("failed", ["error": error.cause.text, "hint": error.hint?.text])
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

    /// - Returns: `false` if they are not the first.
    private func keepLastWords(_ words: PrintableText, _ subject: LogSubject) -> Bool {
        firstFailure.withLock { state in
            guard case .none = state else { return false }
            state = .kept(words, subject)
            return true
        }
    }

    private func releaseFirstFailure() -> (PrintableText, LogSubject)? {
        firstFailure.withLock { state in
            guard case .kept(let words, let subject) = state else { return nil }
            state = .released
            return (words, subject)
        }
    }
}

extension CheckReport {
    fileprivate var json: JSONObject {
        // Rows that refer to missing rows, up to 1,000; left out if SQLite cannot check it.
        switch foreignKeys {
        case .sound: ["depth": depth.rawValue, "foreignKeyViolations": 0]
        case .violated(let rows): ["depth": depth.rawValue, "foreignKeyViolations": rows]
        case .unclear(let words): ["depth": depth.rawValue, "foreignKeyError": words]
        }
    }
}
