import DeviceTrust
import ShipCompression
import ShipLinks
import ShipProtocol
import StoreInbox
import StoreInstall
import StoreServing
import Synchronization

/// One session on the consumer's side, from the open link to the last shipment's installed generation or refusal.
///
/// Source: `Protocol/README.md` sections 6.2 and 10.
package struct ConsumerSession {
    let judgement: SenderJudgement
    let installer: Installer
    let coordinator: StoreCoordinator
    let turns: StoreTurns
    let budget: ShipmentBudget
    let requirements: StoreRequirements
    let checking: CheckOptions
    let probes: ProbeRun
    /// Without one, stores come in blocks alone.
    let codec: ColumnsCodec?
    let timeouts: Timeouts
    /// Called when somebody who may ship has begun to, with their preamble; what it throws ends the session.
    var whenBegun: @Sendable () throws -> Void = {}
    let report: @Sendable (ReceiveEvent) -> Void

    /// When the consumer greets.
    package enum Greeting: Hashable, Sendable {
        /// On a link that goes both ways for sure.
        case atOnce
        /// On standard streams, which another program may not listen to: once the producer's preamble asks for it.
        case ifAsked
        /// On a link that can only be read.
        case never
    }

    /// What is known of a session besides its dialogue.
    final class Course: Sendable {
        let standing: SessionStanding
        private let knownMode = Mutex<Preamble.Mode?>(nil)
        private let hasRefused = Atomic(false)
        private let knownHoldings = Mutex(Holdings())

        init(_ standing: SessionStanding) { self.standing = standing }

        var mode: Preamble.Mode? { knownMode.withLock { $0 } }

        /// What the producer has been told of.
        var holdings: Holdings { knownHoldings.withLock { $0 } }

        func told(of holdings: Holdings) { knownHoldings.withLock { $0 = holdings } }
        func installed(_ generation: Generation) { knownHoldings.withLock { $0.add(generation) } }

        /// Whether somebody may listen to a refusal, which is said once.
        func mayRefuse(_ greeting: Greeting) -> Bool {
            guard greeting != .never, mode == .twoWay || greeting == .atOnce else { return false }
            return !hasRefused.exchange(true, ordering: .relaxed)
        }

        /// - Parameter mode: What is known of it by now.
        /// - Returns: Whether that is news, and whoever said it may go on.
        func begins(in mode: Preamble.Mode?) throws(ShipmentError) -> Bool {
            guard mode != nil, self.mode == nil else { return false }
            knownMode.withLock { $0 = mode }
            try standing.check()
            return true
        }
    }

    /// What a session came to.
    package struct Outcome: Sendable {
        package var receipts: [Receipt] = []
        /// Of the shipments that were refused, or given up.
        package var failures: [ShipmentError] = []
    }

    /// Receives one shipment after the other, until the producer says that it has no more.
    ///
    /// - Returns: What came of them; `report` has been told of each.
    /// - Throws: `ShipmentError` that ended the session, and the shipment in it; the refusal has been sent, and nothing of that
    ///   shipment is left.
    func run(_ link: PeerLink, greeting: Greeting) async throws(ShipmentError) -> Outcome {
        let writer = FrameWriter(link.writer, timeouts)
        let standing = SessionStanding(judgement.trust) { [trust = judgement.trust] () throws(ShipmentError) in
            _ = try trust.stores(of: link, as: .sender)
        }
        let course = Course(standing)
        let refuse = { @Sendable (failure: ShipmentError) async -> Void in
            guard let reason = failure.refusal, course.mayRefuse(greeting) else { return }
            if writer.bytesSent == 0 { try? await writer.send(Preamble(role: .consumer, mode: .twoWay)) }
            await writer.sendLast(.refusal(reason))
        }
        do {
            return try await standing.whileItLasts(telling: refuse) {
                try await converse(link, greeting, writer, course)
            }
        } catch {
            let failure = ShipmentError(error)
            await refuse(failure)
            throw failure
        }
    }

    private func converse(
        _ link: PeerLink, _ greeting: Greeting, _ writer: FrameWriter, _ course: Course
    ) async throws -> Outcome {
        var frames = FrameReader(link.reader, timeouts)
        var dialogue = ConsumerDialogue(taking: common)
        var outcome = Outcome()
        // Asked anew each time: somebody may be trusted no more while the session goes on.
        if greeting == .atOnce { try await greet(&frames, writer, link, course) }
        while true {
            guard var offer = try await awaitOffer(&frames, writer, &dialogue, greeting, link, course) else {
                return outcome
            }
            let start = ContinuousClock.now
            do {
                let receipt = try await receive(&offer, &frames, writer, link, course)
                outcome.receipts.append(receipt)
                report(.finished(receipt, .now - start))
            } catch {
                let cancelled = (error as? Cancelled)?.reason
                let failure = cancelled.map(ShipmentError.givenUp) ?? ShipmentError(error, from: link.medium)
                guard cancelled != nil || failure.endsShipmentAlone else { throw error }
                if offer.mode == .twoWay, let reason = cancelled ?? failure.refusal {
                    try await writer.send(.refusal(reason.ending(.shipment)))
                }
                outcome.failures.append(failure)
                report(.failed(failure))
            }
            dialogue.end(of: offer.dialogue)
            frames.expectNothing()
        }
    }

    /// The producer has given up a shipment, and is told that this is known.
    struct Cancelled: Error {
        let reason: Reason
    }

    /// What this consumer takes.
    private var common: CommonEncodings { CommonEncodings(PartEncoding.taken(with: codec)) }

    /// What is offered, and by whom it is signed, as it says itself.
    private struct Offer {
        var dialogue: ReceivingDialogue
        let mode: Preamble.Mode
        let proof: SenderJudgement.Proof?

        var manifest: Manifest { dialogue.manifest }
    }

    /// From the first byte, or the end of the shipment before, to the next manifest.
    ///
    /// - Returns: `nil` if nothing more comes.
    private func awaitOffer(
        _ frames: inout FrameReader, _ writer: FrameWriter, _ dialogue: inout ConsumerDialogue, _ greeting: Greeting,
        _ link: PeerLink, _ course: Course
    ) async throws -> Offer? {
        let start = ContinuousClock.now
        let greeted = FrameReader.Deadline(end: start + timeouts.hello, error: .link(.timedOut(.reading)))
        let offer = FrameReader.Deadline(
            end: start + timeouts.preparing, error: .overdue(.manifest(timeouts.preparing)))
        while true {
            let element: FrameParser.Element?
            do {
                element = try await frames.next(by: dialogue.mode == nil ? greeted : offer)
            } catch ProtocolError.truncated {
                // Of what has ended in the midst of a frame it matters more what came before.
                try dialogue.linkEnded()
                throw ProtocolError.truncated
            }
            guard let element else {
                try dialogue.linkEnded()
                return nil
            }
            let action = try dialogue.receive(element)
            if try course.begins(in: dialogue.mode) { try whenBegun() }
            switch action {
            case nil: continue
            case .greet where greeting == .never: throw ShipmentError.cannotAnswer
            case .greet:
                guard greeting == .ifAsked else { continue }
                try await greet(&frames, writer, link, course)
            case .stop(let reason): throw ShipmentError.givenUp(reason)
            case .consider(let shipment):
                guard let mode = dialogue.mode, let version = dialogue.version else {
                    throw BrokenInvariant("a manifest before the preamble")
                }
                let proof = shipment.signature.flatMap { signature in
                    frames.signedPayload.map {
                        SenderJudgement.Proof(signature: signature, payload: $0, version: version)
                    }
                }
                return Offer(dialogue: shipment, mode: mode, proof: proof)
            // Nobody waits for a peer that has said its last word; but what follows it in a file was put there by somebody else.
            case .finish where link.medium == .file: continue
            case .finish: return nil
            }
        }
    }

    /// From the manifest to the receipt.
    private func receive(
        _ offer: inout Offer, _ frames: inout FrameReader, _ writer: FrameWriter, _ link: PeerLink, _ course: Course
    ) async throws -> Receipt {
        let manifest = offer.manifest
        let strict = try judgement.asStrictAsNow()
        let proof = offer.proof
        let (sender, signer) = try strict.sender(of: manifest, over: link, proof)
        let again = try strict.asStrictAsNow()
        try course.standing.judge { () throws(ShipmentError) in
            _ = try again.sender(of: manifest, over: link, proof)
        }
        report(.offered(manifest))
        if let signer { report(.signed(by: signer)) }
        try manifest.checkRequirements()
        try budget.admit(manifest)
        if let model = try requirements.admit(manifest) { report(.admitted(model: model.name)) }
        guard offer.mode == .twoWay else {
            let shipment = try await stage(manifest, from: sender, signer, &offer.dialogue)
            return try await receive(shipment, &frames, nil, &offer.dialogue, course)
        }
        switch try await answer(manifest, from: sender, frames, writer, &offer.dialogue, course) {
        case .unchanged(let receipt): return receipt
        case .receive(let shipment):
            let receipt = try await writer.whileWorking {
                try await receive(shipment, &frames, writer, &offer.dialogue, course)
            }
            try await writer.send(.receipt(receipt), answering: frames.offer)
            return receipt
        }
    }

    private enum Answered {
        case unchanged(Receipt)
        case receive(IncomingShipment)
    }

    /// Tells the producer what it may know of: of the stores that it may send, what it has sent.
    private func greet(
        _ frames: inout FrameReader, _ writer: FrameWriter, _ link: PeerLink, _ course: Course
    ) async throws {
        let stores = try judgement.trust.stores(of: link, as: .sender)
        let holdings = try Holdings(in: installer.folder, of: stores.contains, from: link.device)
        course.told(of: holdings)
        frames.hold(holdings.contents)
        try await writer.send(Preamble(role: .consumer, mode: .twoWay))
        try await writer.send(.hello(Hello(software: Software.name, taking: common, holds: holdings.stores)))
    }

    /// Two-way: what is here already need not come again.
    private func answer(
        _ manifest: Manifest, from sender: Sender, _ frames: FrameReader, _ writer: FrameWriter,
        _ dialogue: inout ReceivingDialogue, _ course: Course
    ) async throws -> Answered {
        let reference = frames.manifestBase
        // A sender that has gone does not keep its place until the turn comes.
        let turn = try await turn(for: manifest) { try await writer.keepSayingWorking() }
        let prepared = try await writer.whileWorking {
            try prepare(manifest, from: sender, turn, .skipWhatIsHere) { earlier in
                course.holdings.base(for: manifest, referringTo: reference, asIn: earlier, in: installer.folder)
            }
        }
        switch prepared {
        case .unchanged(let generation):
            let receipt = try confirm(generation, as: manifest, from: sender, course)
            try await writer.send(.receipt(receipt), answering: frames.offer)
            return .unchanged(receipt)
        case .staged(let shipment, let skipped):
            let coming = manifest.parts.indices.filter { !skipped.contains($0) && manifest.parts[$0].size > 0 }
            let begun = try shipment.begun(of: coming, in: common)
            let base = coming.first == 0 ? shipment.base?.digest : nil
            let filesBase = shipment.base.flatMap { $0.hasFiles && coming.last ?? 0 > 0 ? $0.digest : nil }
            let isPlain = skipped.isEmpty && base == nil && filesBase == nil && begun == nil
            let answer =
                isPlain ? Answer.everything : Answer(parts: coming, over: base, files: filesBase, goingOnWith: begun)
            try dialogue.accept(answer)
            try await writer.send(.answer(answer), answering: frames.offer)
            return .receive(shipment)
        }
    }

    /// One-way: all parts come, whatever is here.
    private func stage(
        _ manifest: Manifest, from sender: Sender, _ signer: DeviceIdentifier?, _ dialogue: inout ReceivingDialogue
    ) async throws -> IncomingShipment {
        let turn = try await turn(for: manifest)
        let producer = signer.map { ContentDigest(sha256: $0.bytes) } ?? sender.device
        let prepared = try prepare(manifest, from: sender, turn, .takeEverything) { _ in
            try manifest.base.map { base throws(ShipmentError) in
                try HeldGeneration.base(base.sha256, of: manifest.name, from: producer, in: installer.folder)
            }
        }
        guard case .staged(let shipment, _) = prepared
        else {
            throw BrokenInvariant("what all parts are to come of is here already")
        }
        try dialogue.accept()
        return shipment
    }

    /// Waits for as long as another shipment of the store may take, which is about as large.
    ///
    /// - Parameter working: Runs meanwhile; what it throws ends the waiting.
    private func turn(
        for manifest: Manifest, saying working: (@Sendable () async throws -> Never)? = nil
    ) async throws -> StoreTurns.Turn {
        try await turns.take(manifest.name, within: timeouts.work(on: manifest.totalSize), beside: working)
    }

    /// Which parts of a shipment come.
    private enum Coming: Hashable { case skipWhatIsHere, takeEverything }

    private enum Prepared {
        case unchanged(Generation)
        case staged(IncomingShipment, skipped: Set<Int>)
    }

    /// - Parameter base: What the store may refer to, given what an earlier session has brought of its stream.
    private func prepare(
        _ manifest: Manifest, from sender: Sender, _ turn: StoreTurns.Turn, _ coming: Coming,
        over base: (PartStream.Header?) throws -> HeldGeneration?
    ) throws -> Prepared {
        do {
            return try prepareNow(manifest, from: sender, turn, coming, over: base)
        } catch InboxError.noSpace(let needed, let free) {
            // What only waits, or was current until a moment ago, takes room too, and is no reason to refuse anything.
            let hasRoom =
                try installer.waiting.makeRoom(of: needed - free, for: manifest.name) || installer.reclaimSpace()
            guard hasRoom else { throw InboxError.noSpace(needed: needed, free: free) }
            return try prepareNow(manifest, from: sender, turn, coming, over: base)
        }
    }

    private func prepareNow(
        _ manifest: Manifest, from sender: Sender, _ turn: StoreTurns.Turn, _ coming: Coming,
        over base: (PartStream.Header?) throws -> HeldGeneration?
    ) throws -> Prepared {
        try installer.undisturbed(manifest.name) {
            switch (try installer.plan(for: manifest, from: sender), coming) {
            case (.unchanged(let same), .skipWhatIsHere): return .unchanged(same)
            case (let plan, .takeEverything):
                let held = try base(nil)
                let staged = try installer.stage(manifest, from: sender, present: [:])
                let shipment = IncomingShipment(staged, from: sender, turn, codec, over: held, same: plan.same)
                return .staged(shipment, skipped: [])
            case (.stage(let present), .skipWhatIsHere):
                let staged = try installer.stage(manifest, from: sender, present: present, .goesOn)
                let shipment = IncomingShipment(
                    staged, from: sender, turn, codec, over: try base(staged.earlierStream?.header))
                return .staged(shipment, skipped: staged.wholeParts.union(present.keys))
            }
        }
    }
}

extension Installer.Plan {
    /// What is current, if it is the very shipment.
    fileprivate var same: Generation? { if case .unchanged(let same) = self { same } else { nil } }
}

extension ShipmentError {
    /// Whether nothing was wrong with what had come of a shipment, and the rest of it may come in another session.
    var leavesRestToCome: Bool {
        switch self {
        case .link, .overdue, .stopped: true
        case .protocolBroken(let error): error == .truncated
        case .givenUp(let reason):
            switch reason.knownCode {
            case .stopped, .timedOut: true
            default: false
            }
        default: false
        }
    }
}
