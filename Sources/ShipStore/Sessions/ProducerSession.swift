import DeviceTrust
import ShipCompression
import ShipProtocol
import ShipTransport
import Synchronization

/// One session on the producer's side, from the open link to the consumer's last word.
///
/// Source: `Protocol/README.md` section 6.1.
struct ProducerSession {
    let timeouts: Timeouts
    /// Who signs a one-way shipment; `nil` where nobody does.
    var signer: DeviceIdentity?
    /// Whether the consumer may have it, which is asked before the manifest goes, and before END.
    let standing: SessionStanding
    let report: @Sendable (SendEvent) -> Void
    /// Takes the compact copy.
    let prepare: @Sendable () async throws -> OutgoingShipment

    /// How long the consumer's last word may be on its way once the link takes nothing any more.
    private static let lastWordTime = Duration.seconds(5)

    /// What a session came to.
    struct Outcome {
        let manifest: Manifest
        let bytesSent: Int64
        /// `nil` where nobody answers.
        let receipt: Receipt?
    }

    func run(_ link: Link) async throws -> Outcome {
        let writer = FrameWriter(link.writer, timeouts)
        let dialogue = SharedDialogue()
        do {
            switch link.direction {
            case .oneWay: return try await runOneWay(writer, dialogue, link.medium)
            case .twoWay:
                let reader = FrameReader(link.reader, timeouts)
                return try await runTwoWay(reader, writer, dialogue, peer: "\(link.peer)")
            }
        } catch {
            // After END it would come too late.
            if !dialogue.hasEnded.withLock({ $0 }), let reason = ShipmentError(error).cancellation {
                await writer.sendLast(.cancel(reason))
            }
            throw error
        }
    }

    /// Everything is sent, and nobody answers.
    private func runOneWay(
        _ writer: FrameWriter, _ dialogue: SharedDialogue, _ medium: Link.Medium
    ) async throws -> Outcome {
        try await writer.send(Preamble(role: .producer, mode: .oneWay))
        let shipment = try await writer.whileWorking(prepare)
        if let signer {
            let payload = try Frame.payload(of: shipment.manifest)
            let version = Preamble.spokenVersions.upperBound
            try await writer.send(.signature(try signer.signature(ofManifest: payload, version: version)))
        }
        try await writer.send(.manifest(shipment.manifest))
        // Who reads it knows what this version knows, or refuses it.
        try await shipment.send(
            .shipment(skipping: []), taking: [.plain, .columns], over: medium == .file ? .file : .pipe, writer,
            report: report
        ) { _ in dialogue.hasEnded.withLock { $0 = true } }
        try await writer.finish()
        return Outcome(manifest: shipment.manifest, bytesSent: writer.bytesSent, receipt: nil)
    }

    private func runTwoWay(
        _ reader: FrameReader, _ writer: FrameWriter, _ dialogue: SharedDialogue, peer: String
    ) async throws -> Outcome {
        var frames = reader
        let greeted = FrameReader.Deadline(end: .now + timeouts.hello, error: .link(.timedOut(.reading)))
        var roundTrip = RoundTrip()
        try await writer.send(Preamble(role: .producer, mode: .twoWay))
        guard case .offer(let hello) = try await nextAction(&frames, dialogue, by: greeted) else {
            throw ProtocolError.outOfOrder(FrameType.hello.rawValue)
        }
        roundTrip.end()
        report(.connected(peer))
        let shipment = try await writer.whileWorking(prepare)
        try standing.check()
        roundTrip.begin()
        try await writer.send(.manifest(shipment.manifest))
        dialogue.state.withLock { $0.offered(shipment.manifest) }
        // The consumer gives up waiting for its turn somewhat earlier, and says why.
        let patience = timeouts.work(on: shipment.manifest.totalSize) + timeouts.idle
        let answered = FrameReader.Deadline(end: .now + patience, error: .overdue(.answer(patience)))
        var action = try await nextAction(&frames, dialogue, by: answered)
        roundTrip.end()
        writer.expectWork(on: shipment.manifest.totalSize)
        let outgoing = Outgoing(
            shipment: shipment, forms: hello.storeForms, link: .twoWay(roundTrip: roundTrip.shortest))
        while true {
            switch action {
            case .finish(let receipt): return await finish(shipment, receipt, writer)
            case .send(let skipped):
                action = try await send(outgoing, .shipment(skipping: skipped), writer, &frames, dialogue)
            case .sendStoreAgain:
                report(.startedAgain(.notMadeByConsumer))
                dialogue.hasEnded.withLock { $0 = false }
                dialogue.sendingFailure.withLock { $0 = nil }
                dialogue.deadline.withLock { $0 = nil }
                action = try await send(outgoing, .storeAgain, writer, &frames, dialogue)
            case .offer, .stop: throw ProtocolError.outOfOrder(FrameType.accept.rawValue)
            }
        }
    }

    private func finish(_ shipment: OutgoingShipment, _ receipt: Receipt, _ writer: FrameWriter) async -> Outcome {
        // The consumer has said its last word, and may be gone: whether it hears that nothing more comes does not matter.
        try? await writer.finish()
        return Outcome(manifest: shipment.manifest, bytesSent: writer.bytesSent, receipt: receipt)
    }

    /// A shipment, and what is known of where it goes.
    private struct Outgoing: Sendable {
        let shipment: OutgoingShipment
        let forms: Set<StoreForm>
        let link: SendingPolicy.Link
    }

    /// Sends the content, and listens meanwhile: the consumer may refuse at any moment.
    ///
    /// - Returns: What the consumer's answer asks for.
    private func send(
        _ outgoing: Outgoing, _ content: OutgoingShipment.Content, _ writer: FrameWriter,
        _ frames: inout FrameReader, _ dialogue: SharedDialogue
    ) async throws -> ProducerDialogue.Action {
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [report, standing, timeouts] in
                do {
                    try await outgoing.shipment.send(
                        content, taking: outgoing.forms, over: outgoing.link, writer, report: report
                    ) { form in
                        try standing.check()
                        dialogue.state.withLock { $0.sentAll(storeAs: form) }
                        dialogue.hasEnded.withLock { $0 = true }
                    }
                    let patience = timeouts.work(on: outgoing.shipment.manifest.totalSize)
                    dialogue.deadline.withLock {
                        $0 = FrameReader.Deadline(end: .now + patience, error: .overdue(.receipt(patience)))
                    }
                    report(.awaitingReceipt)
                } catch {
                    // Only the listener knows why the link broke: the consumer's last word may still be on it. It does
                    // not wait for that for long, and where the link did not break, no longer than for the next word.
                    dialogue.sendingFailure.withLock { $0 = error }
                    let patience = error is LinkError ? min(timeouts.idle, Self.lastWordTime) : .zero
                    dialogue.deadline.withLock {
                        $0 = FrameReader.Deadline(end: .now + patience, error: ShipmentError(error))
                    }
                    if !(error is LinkError) { throw error }
                }
            }
            defer { group.cancelAll() }
            do {
                let action = try await nextAction(&frames, dialogue, by: dialogue.deadline.withLock { $0 })
                // The answer to END may be here before the link has said that END is gone.
                if action == .sendStoreAgain { try await group.waitForAll() }
                return action
            } catch let refusal as ShipmentError {
                throw refusal
            } catch {
                throw dialogue.sendingFailure.withLock { $0 } ?? error
            }
        }
    }

    /// What the consumer's next word asks for; a refusal is thrown.
    private func nextAction(
        _ frames: inout FrameReader, _ dialogue: SharedDialogue,
        by deadline: @autoclosure () -> FrameReader.Deadline?
    ) async throws -> ProducerDialogue.Action {
        while true {
            let element: FrameParser.Element?
            do {
                element = try await frames.next(by: deadline())
            } catch ProtocolError.truncated {
                element = nil
            }
            // Whole words or half of one: without its last the consumer is gone.
            guard let element else { throw LinkError.closedByPeer }
            switch try dialogue.state.withLock({ try $0.receive(element) }) {
            case nil: continue
            case .stop(let reason): throw ShipmentError.refused(reason)
            case .some(let action): return action
            }
        }
    }
}

/// What the task that sends and the task that listens both know.
private final class SharedDialogue: Sendable {
    let state = Mutex(ProducerDialogue())
    /// END is being sent, or has been.
    let hasEnded = Mutex(false)
    /// When the listener gives up, whatever it hears.
    let deadline = Mutex<FrameReader.Deadline?>(nil)
    /// Why the sending ended early, if it did.
    let sendingFailure = Mutex<(any Error)?>(nil)
}
