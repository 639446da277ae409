import DeviceTrust
import ShipLinks
import ShipProtocol
import StoreEncoding
import StoreInbox
import StoreInstall
import StoreServing
import Synchronization

/// One session on the consumer's side, from the open link until the last shipment is installed or refused.
///
/// Source: `Protocol/README.md` sections 6.2 and 10.
package struct ConsumerSession {
    let options: Consumer.Options
    let installer: Installer
    /// Has the bases of one-way shipments.
    let bases: InboxFolder
    let coordinator: StoreCoordinator
    let queues: StoreQueues
    let bells: Bells
    /// Whether it waits for a producer that has nothing to ship at the moment.
    var stays = true
    /// Called when a producer that may ship has begun to, with its preamble; what it throws ends the session.
    var whenBegun: @Sendable () throws -> Void = {}
    /// Told how many bytes have come, as they do.
    var received: @Sendable (Int) -> Void = { _ in }
    let report: @Sendable (ReceiveEvent) -> Void

    var senderAuthorization: SenderAuthorization {
        SenderAuthorization(trust: options.trust, takesUnsigned: options.takesUnsigned)
    }
    private var timeouts: Timeouts { options.timeouts }
    /// How often it wants to hear a producer that stays.
    private var interval: Duration? { stays ? timeouts.keepAlive : nil }

    package struct Outcome: Sendable {
        package fileprivate(set) var receipts: [Receipt] = []
        /// Whether the producer waited with this side for more to ship.
        package fileprivate(set) var hasStayed = false
    }

    /// When the consumer sends its greeting.
    package enum Greeting: Hashable, Sendable {
        /// When the link is open: both sides can send.
        case atOnce
        /// When the producer's preamble asks for it: nothing may read the other standard stream.
        case ifAsked
        /// The link can only be read.
        case never
    }

    /// Receives one shipment after the other, until the producer says that it has no more.
    ///
    /// - Returns: The receipts; `report` has been told of each, and of each shipment that was refused, or given up.
    /// - Throws: What ended the session, and the shipment at hand; the refusal has been sent.
    func run(_ link: PeerLink, greeting: Greeting) async throws(ShipmentError) -> Outcome {
        let authorization = SessionAuthorization(senderAuthorization.trust) {
            [trust = senderAuthorization.trust] () throws(ShipmentError) in
            _ = try trust.stores(of: link, as: .relay)
        }
        let conversation = ConsumerConversation(over: link, greeting, authorization, timeouts, options.checking.limits)
        do {
            return try await authorization.whileItLasts(telling: conversation.refuse) { try await run(conversation) }
        } catch {
            let failure = ShipmentError(error)
            await conversation.refuse(failure)
            throw failure
        }
    }

    private func run(_ conversation: ConsumerConversation) async throws -> Outcome {
        let (link, writer) = (conversation.link, conversation.writer)
        var frames = FrameReader(link.reader, timeouts, counting: received)
        var dialogue = ConsumerDialogue(taking: common, staying: interval, signatures: signatures)
        var outcome = Outcome()
        let ages = CopyAges(installer, bells, writer)
        if conversation.greeting == .atOnce { try await greet(&frames, conversation) }
        while true {
            let offer = try await awaitOffer(&frames, &dialogue, ages, conversation)
            outcome.hasStayed = dialogue.stays != nil
            guard var shipment = offer else { return outcome }
            let start = ContinuousClock.now
            do {
                let (receipt, isPassedOn) = try await receive(&shipment, of: dialogue, &frames, conversation)
                if outcome.receipts.count == Self.mostReceipts { outcome.receipts.removeFirst() }
                outcome.receipts.append(receipt)
                // Who passes a copy on does not know what is the newest.
                if dialogue.isAskable, !isPassedOn { ages.acknowledged(receipt, of: shipment.manifest) }
                report(.finished(receipt, .now - start))
            } catch {
                let cancelled = (error as? Cancelled)?.reason
                let failure = cancelled.map(ShipmentError.givenUp) ?? ShipmentError(error, fromFile: link.isFile)
                guard cancelled != nil || failure.endsShipmentAlone else { throw error }
                if dialogue.mode == .twoWay, let reason = cancelled ?? failure.refusal {
                    try await writer.send(.refusal(reason.ending(.shipment)))
                }
                report(.failed(failure))
            }
            dialogue.end(of: shipment)
            frames.expectNothing()
            // The rest of what was refused comes no slower than what is taken.
            if dialogue.skipsRefused { frames.expectSending(of: shipment.manifest.totalSize) }
            if dialogue.stays != nil { try conversation.reopen() }
        }
    }

    /// Most receipts that a session returns: one that stays has no end.
    private static let mostReceipts = 1024

    /// The producer has given up a shipment, and awaits a REFUSAL as the answer to its CANCEL.
    struct Cancelled: Error {
        let reason: Reason
    }

    /// Its use of signatures in two-way mode.
    private var signatures: Hello.Signatures { options.wantsSignatures ? .wanted : .taken }

    /// The encodings that this consumer takes beside blocks, the best first.
    private var common: CommonEncodings { CommonEncodings(options.codec == nil ? [] : [.delta, .columns]) }

    /// From the first byte, or the end of the shipment before, to the next manifest.
    ///
    /// - Returns: `nil` if nothing more comes.
    private func awaitOffer(
        _ frames: inout FrameReader, _ dialogue: inout ConsumerDialogue, _ ages: CopyAges,
        _ conversation: ConsumerConversation
    ) async throws -> ReceivingDialogue? {
        let greeted = FrameReader.Deadline(end: .now + timeouts.hello, error: .link(.timedOut(.reading)))
        func deadlineOfOffer() -> FrameReader.Deadline {
            FrameReader.Deadline(end: .now + timeouts.preparing, error: .overdue(.manifest(timeouts.preparing)))
        }
        var offer = deadlineOfOffer()
        while true {
            // The producer does not prepare the next one before the rest of what was refused has gone.
            let skips = dialogue.skipsRefused
            let element: FrameParser.Element?
            do {
                if let interval = dialogue.stays {
                    do {
                        element = try await conversation.writer.whileWorking(every: interval) {
                            try await ages.whileAsking { try await frames.next(within: interval + timeouts.idle) }
                        }
                    } catch {
                        // All that was offered has had its last word: a session that breaks off here loses nothing.
                        let failure = ShipmentError(error)
                        guard failure.leavesRestToCome else { throw error }
                        await conversation.refuse(failure)
                        report(.disconnected(failure))
                        return nil
                    }
                } else {
                    element = try await frames.next(by: skips ? nil : dialogue.mode == nil ? greeted : offer)
                }
            } catch ProtocolError.truncated {
                // That the stream ends too early says more than that it ends within a frame.
                try dialogue.linkEnded()
                throw ProtocolError.truncated
            }
            guard let element else {
                if dialogue.stays != nil {
                    report(.disconnected(.link(.closedByPeer)))
                    return nil
                }
                try dialogue.linkEnded()
                return nil
            }
            let action = try dialogue.receive(element)
            if skips, !dialogue.skipsRefused {
                frames.expectNothing()
                offer = deadlineOfOffer()
            }
            if try conversation.begins(in: dialogue.mode) { try whenBegun() }
            switch action {
            case nil: continue
            case .note(let newest): ages.note(newest)
            case .greet where conversation.greeting == .never: throw ShipmentError.cannotAnswer
            case .greet:
                if conversation.greeting == .ifAsked { try await greet(&frames, conversation) }
            case .stop(let reason): throw ShipmentError.givenUp(reason)
            case .consider(let shipment): return shipment
            case .finish:
                if dialogue.mode == .oneWay { try await awaitNothing(&frames, conversation.link) }
                return nil
            }
        }
    }

    /// How long a pipe is read on after the last word: a sender that follows in it has come by then.
    private static let timeOfNothing = Duration.seconds(1)

    /// After the last word nothing may come; who writes to a pipe may keep it open. What was installed stays.
    ///
    /// - Throws: `.afterEnd`: silently it would be lost.
    private func awaitNothing(_ frames: inout FrameReader, _ link: PeerLink) async throws {
        do {
            guard try await frames.next(within: link.isFile ? nil : Self.timeOfNothing) != nil else { return }
        } catch LinkError.cancelled {
            // Who stops it comes too late.
            return
        } catch LinkError.timedOut where !link.isFile {
            return
        } catch is ProtocolError {}
        throw ProtocolError.afterEnd
    }

    /// From the manifest to the receipt.
    ///
    /// - Returns: The receipt, and whether another device has made the shipment than the one at the other end.
    private func receive(
        _ dialogue: inout ReceivingDialogue, of session: ConsumerDialogue, _ frames: inout FrameReader,
        _ conversation: ConsumerConversation
    ) async throws -> (Receipt, isPassedOn: Bool) {
        guard let mode = session.mode, let version = session.version else {
            throw BrokenInvariant("a manifest before the preamble")
        }
        let (manifest, link) = (dialogue.manifest, conversation.link)
        let strict = try senderAuthorization.asStrictAsNow()
        let signed = dialogue.signature.flatMap { signature in
            frames.parser.signedPayload.map { SignedManifest(signature, payload: $0, saying: manifest) }
        }
        let signer =
            try signed.map { try $0.signature.signer(ofManifest: $0.payload, version: version) }
            ?? (link.isSigned ? link.signer?.device : nil)
        let sender = try strict.sender(of: manifest, over: link, signedBy: signer)
        let isPassedOn = signer != nil && signer != link.device
        let again = try strict.asStrictAsNow()
        try conversation.authorization.check { () throws(ShipmentError) in
            _ = try again.sender(of: manifest, over: link, signedBy: signer)
        }
        report(.offered(manifest))
        if let signer { report(.signed(by: signer)) }
        try manifest.checkRequirements()
        try options.budget.admit(manifest)
        let place = try sender.device.map { device in
            try queues.takePlace(of: manifest.name, from: device) { coming in
                try options.budget.admit(manifest.name, from: device, beside: coming, into: installer.folder)
            }
        }
        defer { withExtendedLifetime(place) {} }
        if let model = try options.requirements.admit(manifest) { report(.admitted(model: model.name)) }
        switch mode {
        case .oneWay:
            let slot = try await slot(for: manifest)
            switch try prepareAll(of: manifest, from: sender, signed, signer, slot, conversation) {
            case .unchanged(let generation):
                return (try confirm(generation, as: manifest, from: sender, conversation), isPassedOn)
            case .staged(let shipment, let skipped):
                try dialogue.accept(Answer(to: manifest, without: skipped))
                return (try await receive(shipment, &frames, &dialogue, conversation), isPassedOn)
            }
        case .twoWay:
            return (try await answer(manifest, from: sender, signed, &frames, &dialogue, conversation), isPassedOn)
        }
    }

    /// Tells the producer what is held of the stores that it may send: only what it has sent itself.
    private func greet(_ frames: inout FrameReader, _ conversation: ConsumerConversation) async throws {
        let (link, writer) = (conversation.link, conversation.writer)
        let stores = try senderAuthorization.trust.stores(of: link, as: .relay)
        let holdings = try Holdings(in: installer.folder, of: stores.contains, from: link.device)
        conversation.holdings.withLock { $0 = holdings }
        frames.parser.held = holdings.contents
        try await writer.begin(as: .consumer, .twoWay)
        let hello = Hello(
            software: Software.name, taking: common, holds: holdings.stores, staying: interval,
            signatures: signatures)
        try await writer.send(.hello(hello))
    }

    /// Two-way: asks for what is not here already, and receives it.
    private func answer(
        _ manifest: Manifest, from sender: Sender, _ signed: SignedManifest?, _ frames: inout FrameReader,
        _ dialogue: inout ReceivingDialogue, _ conversation: ConsumerConversation
    ) async throws -> Receipt {
        let (reference, writer) = (frames.parser.base, conversation.writer)
        // A sender that has gone leaves the queue at once.
        let slot = try await slot(for: manifest) { try await writer.keepSayingWorking() }
        let prepared = try await writer.whileWorking {
            try makingRoom(for: manifest.name) {
                try prepare(manifest, from: sender, signed, slot, referringTo: reference, conversation)
            }
        }
        switch prepared {
        case .unchanged(let generation):
            let receipt = try confirm(generation, as: manifest, from: sender, conversation)
            try await writer.send(.receipt(receipt), answering: frames.parser.offer)
            return receipt
        case .staged(let shipment, let skipped):
            let answer = try shipment.answer(skipping: skipped, in: common)
            try dialogue.accept(answer)
            try await writer.send(.answer(answer), answering: frames.parser.offer)
            let receipt = try await writer.whileWorking {
                try await receive(shipment, &frames, &dialogue, conversation)
            }
            try await writer.send(.receipt(receipt), answering: frames.parser.offer)
            frames.parser.held.install(manifest)
            return receipt
        }
    }

    private enum Prepared {
        case unchanged(Generation)
        case staged(IncomingShipment, skipped: Set<Int>)
    }

    private func prepare(
        _ manifest: Manifest, from sender: Sender, _ signed: SignedManifest?, _ slot: StoreQueues.Slot,
        referringTo reference: ManifestContent.ID?, _ conversation: ConsumerConversation
    ) throws -> Prepared {
        try installer.undisturbed(manifest.name) {
            switch try installer.plan(for: manifest, from: sender) {
            case .unchanged(let same): return .unchanged(same)
            case .stage(let present):
                let staged = try installer.stage(
                    manifest, from: sender, signed: signed, present: present, isResumable: true)
                let base = conversation.holdings.withLock(\.self).base(
                    for: manifest, referringTo: reference, asIn: staged.earlierStream?.header, in: installer.folder,
                    ifWhole: installer.isWhole)
                let shipment = IncomingShipment(
                    staged, from: sender, slot, options.codec, conversation.decoding, over: base)
                return .staged(shipment, skipped: staged.wholeParts.union(present.keys))
            }
        }
    }

    /// One-way: all parts come, whatever is here already, but for those that the manifest leaves to its base.
    ///
    /// - Returns: `.unchanged` for what is current already and whose base has gone since: who repeats a command need not have that.
    private func prepareAll(
        of manifest: Manifest, from sender: Sender, _ signed: SignedManifest?, _ signer: DeviceIdentifier?,
        _ slot: StoreQueues.Slot, _ conversation: ConsumerConversation
    ) throws -> Prepared {
        let producer = signer.map { ContentDigest(sha256: $0.bytes) } ?? sender.device
        return try makingRoom(for: manifest.name) {
            try installer.undisturbed(manifest.name) {
                let same = try installer.plan(for: manifest, from: sender).same
                if sender.device == nil, same == nil { try installer.checkOrder(of: manifest) }
                var base: HeldGeneration?
                do throws(ShipmentError) {
                    base = try manifest.base.map { base throws(ShipmentError) in
                        try HeldGeneration.base(base, of: manifest.name, from: producer, in: bases)
                    }
                } catch {
                    guard case .missingBase = error, let same else { throw error }
                    return .unchanged(same)
                }
                let repeated = manifest.repeated(from: base?.generation.manifest)
                let isHere = bases === installer.folder
                let present = isHere ? repeated.compactMapValues { base?.generation.path(ofPart: $0) } : [:]
                let staged = try installer.stage(manifest, from: sender, signed: signed, present: present)
                for (index, part) in repeated where !isHere {
                    guard let base else { break }
                    try staged.take(part: index, from: try OpenFile.readingWithoutFollowing(base.path(ofPart: part)))
                }
                let shipment = IncomingShipment(
                    staged, from: sender, slot, options.codec, conversation.decoding, over: base, same: same)
                return .staged(shipment, skipped: Set(repeated.keys))
            }
        }
    }

    /// Waits for as long as another shipment of the store may take, if that is about as large.
    ///
    /// - Parameter working: Runs meanwhile; what it throws ends the waiting.
    private func slot(
        for manifest: Manifest, saying working: (@Sendable () async throws -> Never)? = nil
    ) async throws -> StoreQueues.Slot {
        try await queues.take(manifest.name, within: timeouts.work(on: manifest.totalSize), beside: working)
    }
}

extension Installer.Plan {
    /// The current generation, if it is this very shipment.
    fileprivate var same: Generation? { if case .unchanged(let same) = self { same } else { nil } }
}
