import ShipProtocol
import ShipTransport
import Synchronization

/// One session on the producer's side, from the open link to the consumer's last word.
///
/// Source: `Protocol/README.md` section 6.1.
struct ProducerSession {
    let timeouts: Timeouts
    let report: @Sendable (SendEvent) -> Void
    /// Takes the compact copy.
    let prepare: () async throws -> OutgoingShipment

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
            case .oneWay: return try await runOneWay(writer, dialogue)
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
    private func runOneWay(_ writer: FrameWriter, _ dialogue: SharedDialogue) async throws -> Outcome {
        try await writer.send(Preamble(role: .producer, mode: .oneWay))
        let shipment = try await writer.whileWorking(prepare)
        try await writer.send(.manifest(shipment.manifest))
        try await shipment.send(skipping: [], over: writer, report: report) { dialogue.hasEnded.withLock { $0 = true } }
        try await writer.finish()
        return Outcome(manifest: shipment.manifest, bytesSent: writer.bytesSent, receipt: nil)
    }

    private func runTwoWay(
        _ reader: FrameReader, _ writer: FrameWriter, _ dialogue: SharedDialogue, peer: String
    ) async throws -> Outcome {
        var frames = reader
        let deadline = ContinuousClock.now + timeouts.hello
        try await writer.send(Preamble(role: .producer, mode: .twoWay))
        guard case .offer = try await nextAction(&frames, dialogue, by: deadline) else {
            throw ProtocolError.outOfOrder(FrameType.hello.rawValue)
        }
        report(.connected(peer))
        let shipment = try await writer.whileWorking(prepare)
        try await writer.send(.manifest(shipment.manifest))
        dialogue.state.withLock { $0.offered(shipment.manifest) }
        let receipt: Receipt
        switch try await nextAction(&frames, dialogue) {
        case .finish(let unchanged): receipt = unchanged
        case .send(let skipped):
            receipt = try await send(shipment, skipping: skipped, writer, &frames, dialogue)
        case .offer, .sendStoreAgain, .stop: throw ProtocolError.outOfOrder(FrameType.accept.rawValue)
        }
        // The consumer has said its last word, and may be gone: whether it hears that nothing more comes does not matter.
        try? await writer.finish()
        return Outcome(manifest: shipment.manifest, bytesSent: writer.bytesSent, receipt: receipt)
    }

    /// Sends the blocks, and listens meanwhile: the consumer may refuse at any moment.
    private func send(
        _ shipment: OutgoingShipment, skipping skipped: Set<Int>, _ writer: FrameWriter, _ frames: inout FrameReader,
        _ dialogue: SharedDialogue
    ) async throws -> Receipt {
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [report] in
                do {
                    try await shipment.send(skipping: skipped, over: writer, report: report) {
                        dialogue.state.withLock { $0.sentAll(storeAs: .plain) }
                        dialogue.hasEnded.withLock { $0 = true }
                    }
                    report(.awaitingReceipt)
                } catch {
                    // Only the listener knows why the link broke: the consumer's last word may still be on it.
                    dialogue.sendingFailure.withLock { $0 = error }
                    if !(error is LinkError) { throw error }
                }
            }
            defer { group.cancelAll() }
            do {
                guard case .finish(let receipt) = try await nextAction(&frames, dialogue) else {
                    throw ProtocolError.outOfOrder(FrameType.accept.rawValue)
                }
                return receipt
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
        by deadline: ContinuousClock.Instant? = nil
    ) async throws -> ProducerDialogue.Action {
        while true {
            let element: FrameParser.Element?
            do {
                element = try await frames.next(by: deadline)
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
    /// Why the sending ended early, if it did.
    let sendingFailure = Mutex<(any Error)?>(nil)
}
