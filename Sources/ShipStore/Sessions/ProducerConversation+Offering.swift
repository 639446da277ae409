import ShipProtocol
import Synchronization

/// How a shipment is offered: without a signature, or with one.
extension ProducerConversation {
    /// Offers a shipment, and waits for the answer.
    func offer(
        _ shipment: OutgoingShipment, _ order: ProducerSession.Order, _ frames: inout FrameReader
    ) async throws -> ProducerDialogue.Action {
        let manifest = shipment.manifest
        if let signed = try signed(shipment) {
            return try await offer(manifest, order, &frames) { try await writer.offer(signed) }
        }
        let base = dialogue.base(of: manifest, remembering: shipment.bases.map(\.content))
        return try await offer(manifest, over: base, order, &frames)
    }

    /// The manifest as it was signed, or is for this consumer.
    ///
    /// - Returns: `nil` if it goes without a signature.
    private func signed(_ shipment: OutgoingShipment) throws -> SignedManifest? {
        let signatures = dialogue.signatures
        if let signed = shipment.version.signed {
            guard signatures != nil else { throw ShipmentError.takesNoRelay }
            return signed
        }
        guard signatures == .wanted, shipment.manifest.counter != nil else { return nil }
        return try session.signer?.sign(shipment.manifest)
    }

    /// Offers a shipment without a signature, and waits for the answer.
    func offer(
        _ manifest: Manifest, over base: ManifestContent?, _ order: ProducerSession.Order, _ frames: inout FrameReader
    ) async throws -> ProducerDialogue.Action {
        // Without a word of it, the consumer takes its current generation for the base.
        let isCurrent = dialogue.isCurrent(base, named: manifest.name)
        return try await offer(manifest, order, &frames) {
            try await writer.offer(manifest, over: base, mustRefer: !isCurrent)
        }
    }

    private func offer(
        _ manifest: Manifest, _ order: ProducerSession.Order, _ frames: inout FrameReader,
        sending send: () async throws -> [ManifestContent]
    ) async throws -> ProducerDialogue.Action {
        if let newest = order.answer(manifest) { try await writer.send(.newest(newest)) }
        let start = ContinuousClock.now
        frames.parser.offer = try await send()
        try state.withLock { state throws(BrokenInvariant) in
            try state.dialogue.offered(manifest)
            state.sentStore = nil
        }
        // The consumer stops waiting for its store somewhat earlier, and says why.
        let limit = session.timeouts.work(on: manifest.totalSize) + session.timeouts.idle
        let deadline = FrameReader.Deadline(end: .now + limit, error: .overdue(.answer(limit)))
        let action = try await nextAction(&frames, by: deadline)
        state.withLock { $0.roundTrip = min($0.roundTrip, .now - start) }
        return action
    }
}
