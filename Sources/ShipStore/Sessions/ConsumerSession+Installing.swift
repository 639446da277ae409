import ShipCompression
import ShipProtocol
import StoreInbox
import StoreInstall
import StoreServing

extension ConsumerSession {
    /// From the first part to the installed generation.
    func receive(
        _ shipment: IncomingShipment, _ frames: inout FrameReader, _ writer: FrameWriter?,
        _ dialogue: inout ReceivingDialogue, _ course: Course
    ) async throws -> Receipt {
        do {
            return try await takeIn(shipment, &frames, writer, &dialogue, course)
        } catch {
            await shipment.endCheck()
            if ShipmentError(error).leavesRestToCome { shipment.breakOff(frames.dataOnTheWay) }
            throw error
        }
    }

    private func takeIn(
        _ shipment: IncomingShipment, _ frames: inout FrameReader, _ writer: FrameWriter?,
        _ dialogue: inout ReceivingDialogue, _ course: Course
    ) async throws -> Receipt {
        frames.expectSending(of: shipment.manifest.totalSize)
        while true {
            shipment.prepareCheck(checking)
            guard let element = try await frames.next() else {
                throw ProtocolError.truncated
            }
            switch try dialogue.receive(element) {
            case nil: continue
            case .open(let part, let encoding, let position):
                try shipment.open(part: part, encoding, position: position)
                if position > 0 { report(.wentOn(done: shipment.bytesDone, total: shipment.bytesTotal)) }
            case .append(let data, let isLast): try shipment.append(data, isLast: isLast)
            case .install:
                report(.verifying)
                guard let question = try question(about: shipment, &dialogue) else {
                    return try await install(try shipment.seal(), course)
                }
                try await writer?.send(.answer(question), answering: frames.offer)
            case .discard(let reason): throw Cancelled(reason: reason)
            case .stop(let reason): throw ShipmentError.givenUp(reason)
            }
            report(.progress(done: shipment.bytesDone, total: shipment.bytesTotal))
        }
    }

    /// What to ask the producer for, where a part that was made of what came is not the manifest's.
    private func question(
        about shipment: IncomingShipment, _ dialogue: inout ReceivingDialogue
    ) throws -> Answer? {
        let unproven = try shipment.unproven()
        guard !unproven.isEmpty else { return nil }
        let again = try unproven.map { part, flaw in
            // What has come in blocks, and is not the manifest's, comes out no other way.
            let encodings = dialogue.untried(part: part)
            guard encodings.contains(.blocks) else { throw flaw }
            return WantedPart(part, encodings)
        }
        let question = try dialogue.ask(for: again)
        try shipment.awaitAgain(again.map(\.index))
        report(.askedAgain)
        return question
    }

    /// Checks, asks, switches and opens, in this order.
    private func install(_ shipment: consuming SealedShipment, _ course: Course) async throws -> Receipt {
        report(.checked(try await shipment.check(checking)))
        if let same = shipment.same, installer.isCurrent(same) {
            return try confirm(same, as: shipment.manifest, from: shipment.sender, course)
        }
        try shipment.ask(probes)
        let (name, sender) = (shipment.manifest.name, shipment.sender)
        let generation = try await shipment.install(
            with: installer, permitting: { try permit(name, from: sender, course) }, open: { try tryOpening($0) })
        course.installed(generation)
        return Receipt(generation, .installed)
    }

    /// What has come is current already.
    func confirm(
        _ same: Generation, as manifest: Manifest, from sender: Sender, _ course: Course
    ) throws -> Receipt {
        try tryOpening(same)
        try installer.confirm(same, as: manifest, from: sender) { try permit(manifest.name, from: sender, course) }
        return Receipt(same, .unchanged)
    }

    /// Whether the shipment may become current, now that all of it is here.
    private func permit(_ name: StoreName, from sender: Sender, _ course: Course) throws {
        try course.standing.settle()
        try judgement.takeOver(name, by: sender)
    }

    private func tryOpening(_ generation: Generation) throws {
        try coordinator.tryOpening(generation, in: try installer.folder.folder(of: generation))
    }
}

extension Receipt {
    fileprivate init(_ generation: Generation, _ outcome: Outcome) {
        self.init(
            name: generation.manifest.name, generation: generation.number,
            sha256: generation.manifest.store.sha256, outcome: outcome)
    }
}
