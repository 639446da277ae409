import ShipProtocol

extension ProducerSession {
    /// A store that has not changed since the consumer acknowledged it is offered as it was then, if that is current there: no copy is
    /// taken.
    ///
    /// - Returns: The consumer's last word, or `nil` where a copy has to be taken after all.
    func offerUnchanged(
        _ order: Order, _ frames: inout FrameReader, _ writer: FrameWriter, _ conversation: ProducerConversation,
        _ roundTrip: inout RoundTrip
    ) async throws -> (Manifest, Receipt)? {
        guard let manifest = await order.unchanged(),
            let content = conversation.base(of: manifest, remembering: [])
        else { return nil }
        try standing.check()
        try order.check()
        roundTrip.begin()
        frames.offer = try await writer.offer(manifest, over: content)
        try conversation.offered(manifest)
        let patience = timeouts.work(on: manifest.totalSize) + timeouts.idle
        let answered = FrameReader.Deadline(end: .now + patience, error: .overdue(.answer(patience)))
        var action = try await nextAction(&frames, conversation, by: answered)
        roundTrip.end()
        switch action {
        case .conclude(let receipt): return (manifest, receipt)
        // A copy of now may have a better chance, and a refusal of that one is the last word.
        case .drop: return nil
        case .stop(let reason): throw ShipmentError.refused(reason)
        case .send, .giveUp:
            // Something of it is not there any more.
            try await writer.send(
                .cancel(Reason(.stopped, message: "another copy of the store is taken", ending: .shipment)))
            conversation.cancelled()
            let lastWord = FrameReader.Deadline(end: .now + timeouts.idle, error: .overdue(.answer(timeouts.idle)))
            action = try await nextAction(&frames, conversation, by: lastWord)
            guard case .conclude(let receipt) = action else { return nil }
            return (manifest, receipt)
        }
    }
}
