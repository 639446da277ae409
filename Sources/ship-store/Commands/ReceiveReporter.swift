import ShipStore
import Synchronization

/// Tells of shipments that come in, in words or as JSON.
final class ReceiveReporter: Sendable {
    /// Why the first shipment failed, which the program ends with: it is told earlier only where other shipments follow.
    private enum LastWords { case none, kept(PrintableText), released }

    private let console: Console
    private let tellsFailures: Bool
    private let writesJSON: Bool
    private let bar: ProgressBar
    private let lastWords = Mutex(LastWords.none)

    /// - Parameter tellsFailures: Whether it tells of each shipment that failed. Where the program ends with the first one,
    ///   its last words do.
    init(_ console: Console, writesJSON: Bool, tellsFailures: Bool) {
        self.console = console
        self.tellsFailures = tellsFailures
        self.writesJSON = writesJSON
        bar = ProgressBar(on: console)
    }

    @Sendable func report(_ report: ReceiveReport) {
        func emit(_ event: String, _ members: JSONObject = [:]) { self.emit(event, members, in: report.session) }
        switch report.event {
        case .listener(let event):
            console.say(event.words)
            let (name, members) = event.output
            emit(name, members)
        case .connected(let peer):
            emit("connected", ["peer": peer])
        case .reading(let input):
            console.say("reading the standard input, which is a \(input.rawValue)")
            emit("reading", ["input": input.rawValue])
        case .offered(let manifest):
            if let words = releaseLastWords() { console.say(words) }
            console.say("receiving \(manifest.name): \(manifest.summary) of \(manifest.createdAt)")
            emit("offered", ["manifest": manifest])
        case .signed(let id):
            console.say("signed by \(id)")
            emit("signed", ["signer": id])
        case .admitted(let model):
            console.say("the store's model is \(model)")
            emit("admitted", ["model": model])
        case .progress(let done, let total):
            bar.show(done: done, total: total)
            emit("progress", ["done": done, "total": total])
        case .wentOn(let done, let total):
            // The first segment of a delta makes no bytes of the store.
            let share: PrintableText = done > 0 ? ": \(Figures.bytes(done)) of \(Figures.bytes(total)) are here" : ""
            console.say("going on where it broke off\(share)")
            emit("resumed", ["done": done, "total": total])
        case .verifying:
            console.show("verifying")
            emit("verifying")
        case .checked(let found):
            if let words = Self.words(for: found.foreignKeys) { console.warn(words) }
            emit("checked", ["check": found.json])
        case .askedAgain:
            console.say("the store could not be made from its rows; asking for it as it is")
            emit("asked-again")
        case .finished(let receipt, let duration):
            let what = receipt.outcome == .installed ? "installed" : "unchanged:"
            console.say(
                "\(what) \(receipt.name), generation \(receipt.generation), in \(Figures.duration(duration))")
            emit("finished", ["receipt": receipt, "seconds": duration / .seconds(1)])
        case .disconnected(let error):
            console.say("no longer connected: \(error.cause)")
            emit("disconnected", ["error": error.cause.text, "hint": error.hint?.text])
        case .failed(let error):
            let words: PrintableText = "not installed: \(error.cause)"
            if tellsFailures || !keepLastWords(words) { console.say(words) }
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
    private func keepLastWords(_ words: PrintableText) -> Bool {
        lastWords.withLock { state in
            guard case .none = state else { return false }
            state = .kept(words)
            return true
        }
    }

    private func releaseLastWords() -> PrintableText? {
        lastWords.withLock { state in
            guard case .kept(let words) = state else { return nil }
            state = .released
            return words
        }
    }

    private func emit(_ event: String, _ members: JSONObject, in session: ReceiveReport.Session?) {
        guard writesJSON else { return }
        let place: JSONObject = ["session": session?.number, "name": session?.name?.text, "peer": session?.peer]
        // An event that names its peer itself keeps that one.
        Output.write(object: .event(event, members.adding(place)))
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
