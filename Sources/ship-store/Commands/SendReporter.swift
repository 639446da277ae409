import ShipStore

/// Tells of a shipment on its way out, in words or as JSON.
struct SendReporter: Sendable {
    enum DataFormat: Hashable { case none, json }

    private let console: Console
    private let format: DataFormat
    private let endpoint: Endpoint
    private let profile: CopyProfile
    /// Whether a shipment that fails is not all that there is to say.
    private let isOneOfSeveral: Bool
    private let bar: ProgressBar
    /// Whether nothing is sent.
    private let isRehearsal: Bool

    /// - Parameter profile: What the user wants to be left out.
    init(
        _ console: Console, _ format: DataFormat, to endpoint: Endpoint, leavingOut profile: CopyProfile,
        isOneOfSeveral: Bool, isRehearsal: Bool
    ) {
        self.endpoint = endpoint
        self.isOneOfSeveral = isOneOfSeveral
        self.isRehearsal = isRehearsal
        self.console = console
        self.format = format
        self.profile = profile
        bar = ProgressBar(on: console)
    }

    @Sendable func report(_ event: SendEvent) {
        switch event {
        case .connected(let peer):
            console.say("connected to \(peer)")
            emit(SendLine(event: "connected", peer: peer))
        case .copied(let manifest, let duration):
            console.say("copied \(manifest.name): \(manifest.summary) in \(Figures.duration(duration))")
            OmissionWords(manifest, askedFor: profile).lines.forEach(console.say)
            for missing in manifest.missingExternalFiles {
                console.warn("shipping without \(missing.relativePath), which is not there")
            }
            emit(SendLine(event: "copied", manifest: manifest, seconds: duration / .seconds(1)))
        case .progress(let done, let total, let wire):
            bar.show(done: done, total: total, wire: wire)
            emit(SendLine(event: "progress", done: done, total: total, wire: wire))
        case .finishing(let manifest):
            console.say("finishing the shipment of \(manifest.createdAt) that broke off")
            emit(SendLine(event: "finishing", manifest: manifest))
        case .wentOn(let name, let bytes):
            console.say("going on where it broke off: \(Figures.bytes(bytes)) need not be sent again")
            emit(SendLine(event: "resumed", name: name, encoded: bytes))
        case .startedAgain(let cause):
            if let words = cause.words { console.say(words) }
            emit(SendLine(event: "started-again", cause: "\(cause)"))
        case .goesWhole(let name, let cause):
            console.warn("\(name) goes whole: \(cause.words)")
            emit(SendLine(event: "goes-whole", name: name, cause: "\(cause)"))
        case .mayBeGone(let time):
            console.warn(
                "what the receiver said that it holds may be gone since \(time): ask it for a new holdings file")
            emit(SendLine(event: "may-be-gone", since: time))
        case .overtaken(let name):
            console.say("a later shipment of \(name) from this device came first; taking another copy")
            emit(SendLine(event: "overtaken", name: name))
        case .awaitingReceipt where isRehearsal: break
        case .awaitingReceipt:
            console.show("sent; the receiver verifies and installs")
            emit(SendLine(event: "sent"))
        case .delivered(let delivery) where isRehearsal: finishRehearsal(delivery)
        case .delivered(let delivery): finish(delivery)
        case .failed(let name, let failure):
            // What is all that there is to say is said in the end.
            guard isOneOfSeveral, failure != .stopped else { return }
            let explanation = failure.explanation
            console.warn("\(name) was not shipped: \(explanation.cause)")
            emit(SendLine(event: "failed", name: name, error: explanation.cause, hint: explanation.hint))
        }
    }

    func paired(_ peer: TrustedPeer) {
        console.say("paired with \(peer.name): it \(peer.rights)")
        emit(SendLine(event: "paired", device: peer))
    }

    private func finish(_ delivery: Delivery) {
        let size = delivery.manifest.totalSize
        let figures =
            "\(Figures.bytes(delivery.bytesSent)) for \(Figures.bytes(size))"
            + " (\(Figures.percent(delivery.bytesSent, of: size))) in \(Figures.duration(delivery.duration))"
        switch delivery.receipt {
        case .some(let receipt) where receipt.outcome == .unchanged:
            console.say(
                "unchanged: the receiver has \(receipt.name) already, as generation \(receipt.generation)"
                    + " (sent \(Figures.bytes(delivery.bytesSent)) in \(Figures.duration(delivery.duration)))")
        case .some(let receipt):
            console.say("installed \(receipt.name) as generation \(receipt.generation): sent \(figures)")
        case nil:
            let target = endpoint == .standardStreams ? "standard output" : "\(endpoint)"
            console.say("wrote \(delivery.manifest.name) to \(target): \(figures)")
        }
        emit(
            SendLine(
                event: "finished", name: delivery.manifest.name, receipt: delivery.receipt, wire: delivery.bytesSent,
                encoding: delivery.store.map { "\($0.encoding)" }, encoded: delivery.store?.bytes,
                seconds: delivery.duration / .seconds(1)))
    }

    private func finishRehearsal(_ delivery: Delivery) {
        let (size, wire) = (delivery.manifest.totalSize, delivery.bytesSent)
        // What the receiver has is known where it has said so in a file.
        let condition: PrintableText =
            delivery.store?.encoding == .delta ? "to who has what it builds on" : "if the receiver has none of it"
        console.say(
            "would send \(delivery.manifest.name): \(Figures.bytes(wire)) for \(Figures.bytes(size))"
                + " (\(Figures.percent(wire, of: size))), \(condition); nothing was sent")
        emit(
            SendLine(
                event: "would-send", name: delivery.manifest.name, wire: wire, seconds: delivery.duration / .seconds(1))
        )
    }

    private func emit(_ line: SendLine) {
        if format == .json { Output.write(json: line) }
    }
}

/// One line of `send --json`.
private struct SendLine: Encodable {
    let event: String
    let time = EventTime()
    var name: StoreName?
    var peer: String?
    var device: TrustedPeer?
    var manifest: Manifest?
    var receipt: Receipt?
    var done: Int64?
    var total: Int64?
    var wire: Int64?
    var encoding: String?
    var encoded: Int64?
    var seconds: Double?
    var cause: String?
    var since: Timestamp?
    var error: String?
    var hint: String?
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
    /// For people, where something did not go as it should.
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
}
