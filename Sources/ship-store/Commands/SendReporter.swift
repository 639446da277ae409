import ShipStore

/// Tells of a shipment on its way out, in words or as JSON.
struct SendReporter: Sendable {
    private let console: Console
    /// Whether it writes objects for programs in addition to words for people.
    private let writesJSON: Bool
    /// Where shipments go; `nil` if receivers come for them.
    private let endpoint: Endpoint?
    private let profile: CopyProfile
    /// Whether the command ships several stores, so that it says at once that one failed.
    private let isOneOfSeveral: Bool
    private let bar: ProgressBar
    /// Whether this is a dry run.
    private let isRehearsal: Bool

    /// - Parameter profile: What the user wants to be left out.
    init(
        _ console: Console, writesJSON: Bool, to endpoint: Endpoint?, leavingOut profile: CopyProfile,
        isOneOfSeveral: Bool, isRehearsal: Bool
    ) {
        self.endpoint = endpoint
        self.isOneOfSeveral = isOneOfSeveral
        self.isRehearsal = isRehearsal
        self.console = console
        self.writesJSON = writesJSON
        self.profile = profile
        bar = ProgressBar(on: console)
    }

    @Sendable func report(_ event: SendEvent) { report(event, in: nil) }

    /// - Parameter session: Whose event it is, if receivers come for the shipments.
    func report(_ event: SendEvent, in session: SendReport.Session?) {
        let place: JSONObject = ["session": session?.number, "peer": session?.peer]
        let there: PrintableText = session.map { " at \($0.peer)" } ?? ""
        func emit(_ event: String, _ members: JSONObject = [:]) {
            // An event that names its peer itself keeps that one.
            if writesJSON { Output.write(object: .event(event, members.adding(place))) }
        }
        switch event {
        case .connected(let peer):
            console.say("connected to \(peer)")
            emit("connected", ["peer": peer])
        case .copied(let manifest, let duration):
            console.say("copied \(manifest.name): \(manifest.summary) in \(Figures.duration(duration))")
            manifest.omissionLines(askedFor: profile).forEach(console.say)
            for missing in manifest.missingExternalFiles {
                console.warn("shipping without \(missing.relativePath), which is not there")
            }
            emit("copied", ["manifest": manifest, "seconds": duration / .seconds(1)])
        case .progress(let done, let total, let wire):
            if hasTerminal { bar.show(done: done, total: total) }
            emit("progress", ["done": done, "total": total, "wire": wire])
        case .finishing(let manifest):
            console.say("finishing the shipment of \(manifest.createdAt) that broke off")
            emit("finishing", ["manifest": manifest])
        case .wentOn(let name, let bytes):
            console.say("going on where it broke off: \(Figures.bytes(bytes)) need not be sent again")
            emit("resumed", ["name": name, "encoded": bytes])
        case .startedAgain(let cause):
            if let words = cause.words { console.say(words) }
            emit("started-again", ["cause": "\(cause)"])
        case .goesWhole(let name, let cause):
            console.warn("\(name) goes whole: \(cause.words)")
            emit("goes-whole", ["name": name, "cause": "\(cause)"])
        case .mayBeGone(let time):
            console.warn(
                "what the receiver said that it holds may be gone since \(time): ask it for a new holdings file")
            emit("may-be-gone", ["since": time])
        case .overtaken(let name):
            console.say("a later shipment of \(name) from this device came first; taking another copy")
            emit("overtaken", ["name": name])
        case .awaitingReceipt where isRehearsal: break
        case .awaitingReceipt:
            if hasTerminal { console.show("sent; the receiver verifies and installs") }
            emit("sent")
        case .delivered(let delivery) where isRehearsal:
            console.say(rehearsalWords(for: delivery))
            emit(
                "would-send",
                [
                    "name": delivery.manifest.name, "wire": delivery.bytesSent,
                    "seconds": delivery.duration / .seconds(1),
                ])
        case .delivered(let delivery):
            console.say(words(for: delivery, there))
            emit(
                "finished",
                [
                    "name": delivery.manifest.name, "receipt": delivery.receipt, "wire": delivery.bytesSent,
                    "encoding": delivery.store.map { "\($0.encoding)" }, "encoded": delivery.store?.bytes,
                    "seconds": delivery.duration / .seconds(1),
                ])
        case .failed(let name, let failure):
            // The failure of the only store is said when the program ends.
            guard isOneOfSeveral, failure != .stopped else { return }
            console.warn("\(name) was not shipped\(there): \(failure.cause)")
            emit("failed", ["name": name, "error": failure.cause.text, "hint": failure.hint?.text])
        case .disconnected(let failure):
            if let session {
                console.say("\(session.peer) is no longer connected: \(failure.cause)")
            } else {
                console.warn("\(failure.cause); trying again")
            }
            emit("disconnected", ["error": failure.cause.text, "hint": failure.hint?.text])
        case .makesWay(let name):
            console.say(
                "the receiver\(there) makes way for newer states of \(name), and goes on when it connects again")
            emit("makes-way", ["name": name])
        case .listener(let event):
            console.say(event.words)
            let (name, members) = event.output
            emit(name, members)
        }
    }

    /// Whether nobody else draws on the same terminal, as a receiver does to which a pipe leads.
    private var hasTerminal: Bool {
        switch endpoint {
        case .standardStreams, .command: false
        case .tcp, .unix, .file, .folder, .web, .bucket: true
        // Several shipments go at the same time.
        case nil: false
        }
    }

    private func words(for delivery: Delivery, _ there: PrintableText) -> PrintableText {
        let size = delivery.manifest.totalSize
        let figures =
            "\(Figures.bytes(delivery.bytesSent)) for \(Figures.bytes(size))"
            + " (\(Figures.percent(delivery.bytesSent, of: size))) in \(Figures.duration(delivery.duration))"
        switch delivery.receipt {
        case .some(let receipt) where receipt.outcome == .unchanged:
            return "unchanged: the receiver\(there) has \(receipt.name) already, as generation \(receipt.generation)"
                + " (sent \(Figures.bytes(delivery.bytesSent)) in \(Figures.duration(delivery.duration)))"
        case .some(let receipt):
            return "installed \(receipt.name) as generation \(receipt.generation)\(there): sent \(figures)"
        case nil:
            let target = endpoint.map { $0 == .standardStreams ? "standard output" : "\($0)" } ?? "nowhere"
            return "wrote \(delivery.manifest.name) to \(target): \(figures)"
        }
    }

    private func rehearsalWords(for delivery: Delivery) -> PrintableText {
        let (size, wire) = (delivery.manifest.totalSize, delivery.bytesSent)
        // What the receiver has is known where it has said so in a file.
        let condition: PrintableText =
            delivery.store?.encoding == .delta ? "to who has what it builds on" : "if the receiver has none of it"
        return "would send \(delivery.manifest.name): \(Figures.bytes(wire)) for \(Figures.bytes(size))"
            + " (\(Figures.percent(wire, of: size))), \(condition); nothing was sent"
    }
}

extension WholeShipment {
    fileprivate var words: PrintableText {
        switch self {
        case .notHeld: "the receiver holds nothing of it from this sender"
        case .otherSender: "what the receiver holds is from another sender, or from this one without its signature"
        case .notRemembered:
            "what the receiver holds is not remembered here; with --since a shipment of it does as well"
        case .notInShipment: "it is not in the earlier shipment"
        }
    }
}

extension RestartCause {
    /// For people; `nil` where the cause is nothing unusual.
    fileprivate var words: PrintableText? {
        switch self {
        case .notMadeByConsumer:
            "the other side could not rebuild the store from what was sent; sending it again, otherwise"
        case .selfCheckFailed: "the store cannot be rebuilt from what was sent; sending it again, otherwise"
        case .unsuitable, .fastLink, .largeDelta, .baseGone, .cannotGoOn: nil
        }
    }
}

extension Manifest {
    /// `20.5 MB` and what comes with it.
    var summary: String {
        switch externalFiles.count {
        case 0: Figures.bytes(store.size)
        case 1: "\(Figures.bytes(store.size)) and 1 external file, \(Figures.bytes(totalSize - store.size)),"
        case let count:
            "\(Figures.bytes(store.size)) and \(count) external files, \(Figures.bytes(totalSize - store.size)),"
        }
    }

    /// What the copy leaves out because the user asked for it, for people.
    ///
    /// - Parameter profile: What was asked for.
    func omissionLines(askedFor profile: CopyProfile = CopyProfile()) -> [PrintableText] {
        let left = omissions.map { ["left out: \($0.words(bytes: Figures.bytes))"] as [PrintableText] } ?? []
        return profile.leavesOutHistory && omissions?.history != true
            ? left + ["there is no history to leave out"] : left
    }
}
