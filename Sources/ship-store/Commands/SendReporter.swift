import ShipStore

/// Tells of a shipment on its way out, in words or as JSON.
struct SendReporter: Sendable {
    let console: Console
    /// Whether it writes objects for programs in addition to words for people.
    let writesJSON: Bool
    /// Where shipments go; `nil` if receivers come for them.
    let endpoint: Endpoint?
    /// What the user wants to be left out.
    let profile: CopyProfile
    /// Whether the command ships several stores, so that it says at once that one failed.
    let isOneOfSeveral: Bool
    /// Whether this is a dry run.
    let isRehearsal: Bool
    let metrics: Metrics?
    let bar: ProgressBar
    /// Told why a store is not followed any more, of one that does not go to who comes for it.
    let tellEnd: @Sendable (ShipmentError) -> Void

    @Sendable func report(_ event: SendEvent) { report(event, in: nil) }

    /// - Parameter session: Whose event it is, if receivers come for the shipments.
    func report(_ event: SendEvent, in session: SendReport.Session?) {
        metrics?.observe(event)
        let place: JSONObject = ["session": session?.number, "peer": session?.peer]
        let there: PrintableText = session.map { " at \($0.peer)" } ?? ""
        func emit(_ event: String, _ members: JSONObject = [:]) {
            // An event that names its peer itself keeps that one.
            if writesJSON { Output.write(.event(event, members.adding(place))) }
        }
        func subject(_ event: String, _ store: StoreName? = nil) -> LogSubject {
            let peer = session?.peer ?? endpoint.map { "\($0)" }
            return LogSubject(event: event, session: session?.number, peer: peer, store: store)
        }
        func tell(
            _ event: String, _ words: PrintableText, warning: Bool = false, of store: StoreName? = nil,
            _ members: JSONObject
        ) {
            let subject = subject(event, store)
            if warning { console.warn(words, about: subject) } else { console.say(words, about: subject) }
            emit(event, members)
        }
        switch event {
        case .connected(let peer): tell("connected", "connected to \(peer)", ["peer": peer])
        case .copied(let manifest, let duration):
            let subject = subject("copied", manifest.name)
            let words: PrintableText =
                "copied \(manifest.name): \(manifest.summary) in \(Figures.duration(duration))"
            for line in [words] + manifest.omissionLines(askedFor: profile) { console.say(line, about: subject) }
            for missing in manifest.missingExternalFiles {
                console.warn("shipping without \(missing.relativePath), which is not there", about: subject)
            }
            emit("copied", ["manifest": manifest, "seconds": duration / .seconds(1)])
        case .progress(let done, let total, let wire):
            if hasTerminal { bar.show(done: done, total: total) }
            emit("progress", ["done": done, "total": total, "wire": wire])
        case .finishing(let manifest):
            tell(
                "finishing", "finishing the shipment of \(manifest.createdAt) that broke off", of: manifest.name,
                ["manifest": manifest])
        case .wentOn(let name, let bytes):
            tell(
                "resumed", "going on where it broke off: \(Figures.bytes(bytes)) need not be sent again", of: name,
                ["name": name, "encoded": bytes])
        case .startedAgain(let cause):
            let members: JSONObject = ["cause": "\(cause)"]
            if let words = cause.words {
                tell("started-again", words, members)
            } else {
                emit("started-again", members)
            }
        case .goesWhole(let name, let cause):
            tell(
                "goes-whole", "\(name) goes whole: \(cause.words)", warning: true, of: name,
                ["name": name, "cause": "\(cause)"])
        case .mayBeGone(let time):
            tell(
                "may-be-gone",
                "what the receiver said that it holds may be gone since \(time): ask it for a new holdings file",
                warning: true, ["since": time])
        case .overtaken(let name):
            tell(
                "overtaken", "a later shipment of \(name) from this device came first; taking another copy", of: name,
                ["name": name])
        case .awaitingReceipt where isRehearsal: break
        case .awaitingReceipt:
            if hasTerminal { console.show("sent; the receiver verifies and installs") }
            emit("sent")
        case .delivered(let delivery) where isRehearsal:
            tell(
                "would-send", rehearsalWords(for: delivery), of: delivery.manifest.name,
                [
                    "name": delivery.manifest.name, "wire": delivery.bytesSent,
                    "seconds": delivery.duration / .seconds(1),
                ])
        case .delivered(let delivery):
            tell(
                "finished", words(for: delivery, there), of: delivery.manifest.name,
                [
                    "name": delivery.manifest.name, "receipt": delivery.receipt, "wire": delivery.bytesSent,
                    "encoding": delivery.store.map { "\($0.encoding)" }, "encoded": delivery.store?.bytes,
                    "seconds": delivery.duration / .seconds(1),
                ])
        case .failed(let name, let failure):
            // The failure of the only store is said when the program ends.
            guard isOneOfSeveral, failure != .stopped else { return }
            tell(
                "failed", "\(name) was not shipped\(there): \(failure.cause)", warning: true, of: name,
                ["name": name, "error": failure.cause.text, "hint": failure.hint?.text])
        case .unfollowed(let name, let failure):
            if session == nil { tellEnd(failure) }
            tell(
                "unfollowed", "\(name) is not followed any more\(there): \(failure.cause)", warning: true, of: name,
                ["name": name, "error": failure.cause.text, "hint": failure.hint?.text])
        case .disconnected(let failure):
            let words: PrintableText =
                session.map { "\($0.peer) is no longer connected: \(failure.cause)" }
                ?? "\(failure.cause); trying again"
            tell(
                "disconnected", words, warning: session == nil,
                ["error": failure.cause.text, "hint": failure.hint?.text])
        case .makesWay(let name):
            tell(
                "makes-way",
                "the receiver\(there) makes way for newer states of \(name), and goes on when it connects again",
                of: name, ["name": name])
        case .awaits(let names, let inbox):
            let what = names.isEmpty ? "store" : names.map(\.text).joined(separator: ", ")
            tell(
                "awaits", "there is no \(what) in \(inbox) yet: what comes is passed on", warning: true,
                ["names": names, "inbox": inbox.text])
        case .listener(let event):
            event.tell(on: console)
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
        case 1: "\(Figures.bytes(store.size)) and 1 external file (\(Figures.bytes(totalSize - store.size)))"
        case let count:
            "\(Figures.bytes(store.size)) and \(count) external files (\(Figures.bytes(totalSize - store.size)))"
        }
    }

    /// The parts that the copy leaves out because the user asked for it, for people.
    func omissionLines(askedFor profile: CopyProfile = CopyProfile()) -> [PrintableText] {
        let left = omissions.map { ["left out: \($0.words(bytes: Figures.bytes))"] as [PrintableText] } ?? []
        return profile.leavesOutHistory && omissions?.history != true
            ? left + ["there is no history to leave out"] : left
    }
}
