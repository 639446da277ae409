import ShipCompression
import ShipProtocol
import StoreEncoding
import StoreInbox
import StoreInstall
import StoreServing
import Synchronization

extension ConsumerSession {
    /// Stages, and if there is no room, again after removing what only takes room, twice at most: it is no reason to refuse a shipment.
    func makingRoom<Result>(for name: StoreName, _ stage: () throws -> Result) throws -> Result {
        for isAgain in [false, true] {
            do {
                return try stage()
            } catch InboxError.noSpace(let needed, let free) {
                let hasMore =
                    try !isAgain && installer.folder.makeRoom(of: needed - free, for: name) || installer.reclaimSpace()
                guard hasMore else { throw InboxError.noSpace(needed: needed, free: free) }
            }
        }
        return try stage()
    }

    /// From the first part to the installed generation.
    func receive(
        _ shipment: IncomingShipment, _ frames: inout FrameReader, _ dialogue: inout ReceivingDialogue,
        _ conversation: ConsumerConversation
    ) async throws -> Receipt {
        do {
            return try await takeIn(shipment, &frames, &dialogue, conversation)
        } catch {
            await shipment.endCheck()
            // What a device has sent goes with the trust in it.
            if ShipmentError(error).leavesRestToCome, (try? conversation.authorization.check()) != nil {
                shipment.breakOff(frames.parser.partialData)
            }
            throw error
        }
    }

    private func takeIn(
        _ shipment: IncomingShipment, _ frames: inout FrameReader, _ dialogue: inout ReceivingDialogue,
        _ conversation: ConsumerConversation
    ) async throws -> Receipt {
        let writer = conversation.mode == .twoWay ? conversation.writer : nil
        frames.expectSending(of: shipment.manifest.totalSize)
        while true {
            shipment.prepareCheck(options.checking)
            guard let element = try await frames.next() else {
                throw ProtocolError.truncated
            }
            switch try dialogue.receive(element) {
            case nil: continue
            case .open(let part, let encoding, let position):
                try shipment.open(part: part, encoding, position: position)
                if position > 0 { report(.wentOn(done: shipment.bytesDone, total: shipment.bytesTotal)) }
            case .append(let data, let isLast): try shipment.append(data, isLast: isLast)
            case .compare(let request): try await writer?.send(.ranges(try shipment.compare(request, queues)))
            case .install:
                report(.verifying)
                if writer != nil { shipment.beginCheck(options.checking) }
                guard let question = try question(about: shipment, &dialogue) else {
                    return try await install(shipment, conversation)
                }
                await shipment.endCheck()
                try await writer?.send(.answer(question), answering: frames.parser.offer)
            case .discard(let reason): throw Cancelled(reason: reason)
            case .stop(let reason): throw ShipmentError.givenUp(reason)
            }
            report(.progress(done: shipment.bytesDone, total: shipment.bytesTotal))
        }
    }

    /// Asks the producer for parts again that came out otherwise than the manifest says.
    ///
    /// - Returns: `nil` if all parts are right.
    /// - Throws: The flaw of a part that has no other encoding to come in.
    private func question(about shipment: IncomingShipment, _ dialogue: inout ReceivingDialogue) throws -> Answer? {
        let unproven = try shipment.unproven()
        guard !unproven.isEmpty else { return nil }
        let again = try unproven.map { part, flaw in
            // A part that has come in blocks is the same in any encoding.
            let encodings = dialogue.untried(part: part)
            guard encodings.contains(.blocks) else { throw flaw }
            return WantedPart(part, encodings)
        }
        let question = try dialogue.ask(for: again)
        try shipment.awaitAgain(again.map(\.index))
        report(.askedAgain)
        return question
    }

    /// Checks, asks the probes, switches and opens, in this order.
    private func install(_ shipment: IncomingShipment, _ conversation: ConsumerConversation) async throws -> Receipt {
        // It has the store's slot until it is installed.
        defer { withExtendedLifetime(shipment) {} }
        let sealed = try shipment.seal()
        report(.checked(try await shipment.check(sealed, options.checking)))
        let (manifest, sender) = (shipment.manifest, shipment.sender)
        if let same = shipment.same, installer.isCurrent(same) {
            return try confirm(same, as: manifest, from: sender, conversation)
        }
        do throws(FailedProbe) {
            try options.probes.ask(at: sealed.storePathByDescriptor, size: manifest.store.size)
        } catch {
            // A probe that was interrupted has not failed.
            try Task.checkCancellation()
            throw error
        }
        var giveBack: (() -> Void)?
        let generation: Generation
        do {
            generation = try await installer.install(
                sealed, permitting: { giveBack = try permit(manifest.name, from: sender, conversation) },
                open: { try tryOpening($0) })
        } catch {
            let record = (try? installer.folder.originRecord(of: manifest.name)).flatMap(\.self)
            if record?.producer != sender.device || record?.highest != manifest.counter { giveBack?() }
            throw error
        }
        conversation.holdings.withLock { $0.add(generation) }
        queues.forgetSearches(of: manifest.name, for: sender.peer)
        return Receipt(generation, .installed)
    }

    /// Confirms a shipment that is current already.
    func confirm(
        _ same: Generation, as manifest: Manifest, from sender: Sender, _ conversation: ConsumerConversation
    ) throws -> Receipt {
        try tryOpening(same)
        try installer.confirm(same, as: manifest, from: sender) {
            _ = try permit(manifest.name, from: sender, conversation)
        }
        return Receipt(same, .unchanged)
    }

    /// Whether the shipment may become current, now that all of it is here.
    ///
    /// - Returns: What gives back the permission that it has used, if it does not.
    private func permit(
        _ name: StoreName, from sender: Sender, _ conversation: ConsumerConversation
    ) throws -> (() -> Void)? {
        try conversation.authorization.settle()
        return try options.keepsPermissions ? nil : senderAuthorization.takeOver(name, by: sender)
    }

    private func tryOpening(_ generation: Generation) throws {
        try coordinator.tryOpening(generation, in: try installer.folder.folder(of: generation))
    }
}

extension Receipt {
    init(_ generation: Generation, _ outcome: Outcome) {
        self.init(
            name: generation.manifest.name, generation: generation.number,
            sha256: generation.manifest.store.sha256, outcome: outcome)
    }
}
