import DeviceTrust
import ShipCompression
import ShipLinks
import ShipProtocol
import StoreFiles
import Synchronization

/// One session on the producer's side, from the open link to the consumer's last word on the last shipment: which shipments go, and in
/// which order. `ProducerConversation` brings one shipment from its offer to the last word on it.
///
/// Source: `Protocol/README.md` section 6.1.
struct ProducerSession {
    let timeouts: Timeouts
    /// Signs one-way shipments, and two-way ones for consumers that want that; `nil` for no signatures.
    var signer: DeviceIdentity?
    /// Whether the consumer may have anything.
    let authorization: SessionAuthorization
    /// Whether frames are padded, so that their lengths say less.
    var isPadded = false
    /// How fast bytes may go over a link; `nil` for as fast as it takes them.
    var rateLimit: RateLimit?
    /// Told of the questions of a consumer that waits for more; `nil` for a session that answers none.
    var asked: (@Sendable (Question) -> Void)?
    /// When the work began: before the link was opened.
    var start = ContinuousClock.now
    let report: @Sendable (SendEvent) -> Void

    /// Sends an answer between two shipments.
    typealias Answering = @Sendable (Newest) async throws -> Void

    /// Ships one store after the other, and on a two-way link with a consumer that waits for more whatever comes later.
    ///
    /// - Parameters:
    ///   - orders: Those that are known.
    ///   - next: Waits for another one; its error ends the session. It is called once the known ones are done.
    /// - Returns: If the session breaks off, the order at hand and all after it have failed.
    func run(
        _ link: PeerLink, _ orders: [Order], following next: (@Sendable (Answering) async throws -> Order)? = nil
    ) async -> Outcome {
        // The policy of compression sees a link that is as slow as it may be used.
        let paced = link.isFile ? nil : rateLimit.map { PacedWriter(writer: link.writer, limit: $0) }
        let writer = FrameWriter(paced ?? link.writer, timeouts, isPadded: isPadded)
        var results = Results(of: orders)
        let early = EarlyWork(on: orders)
        // After END a CANCEL comes too late.
        var mayCancel = { true }
        var end = Result<Void, ShipmentError>.success(())
        do {
            switch link.direction {
            case .oneWay: try await runOneWay(writer, intoFile: link.isFile, &results, &mayCancel)
            case .twoWay:
                var frames = FrameReader(link.reader, timeouts)
                let conversation = try await ProducerConversation(of: self, writer, greeting: &frames)
                mayCancel = { conversation.dialogue.mayCancelSession }
                report(.connected("\(link.peer)"))
                try await runTwoWay(&frames, conversation, early, &results, following: next)
            }
        } catch {
            var failure = (error as? RefusedShipment)?.cause ?? ShipmentError(error)
            if failure == .stopped {
                do throws(ShipmentError) { try authorization.check() } catch { failure = error }
            }
            end = .failure(failure)
            if mayCancel(), let reason = failure.cancellation { await writer.sendLast(.cancel(reason)) }
            if link.isFile { results.failAll(failure) } else { results.fail(failure) }
        }
        // No order takes a copy any more once it has been told its result.
        await early.end()
        results.tell()
        await results.settle()
        return Outcome(results: results.known, end: end)
    }

    /// How a session went.
    struct Outcome {
        /// The outcomes of the orders that were known, in their order.
        let results: [Result<Delivery, ShipmentError>]
        /// Success if the consumer has heard that there is no more; else why the session broke off.
        let end: Result<Void, ShipmentError>
    }

    // MARK: One-way

    /// Sends everything; no consumer answers.
    private func runOneWay(
        _ writer: FrameWriter, intoFile isFile: Bool, _ results: inout Results, _ mayCancel: inout () -> Bool
    ) async throws {
        try await writer.begin(as: .producer, .oneWay)
        var before = (bytes: Int64(0), time: start)
        for order in results.orders {
            let mustSucceed = isFile || results.isLastHope
            let copied = try await prepare(order, &results, mustSucceed) { try await writer.whileWorking($0) }
            guard let shipment = copied else {
                before.time = .now
                continue
            }
            if let signer {
                _ = try await writer.offer(try signer.sign(shipment.manifest))
            } else {
                try await writer.send(.manifest(shipment.manifest))
            }
            // A reader knows the encodings of this version, or refuses the version.
            let wanted = try CommonEncodings.ofVersion.wanted(by: shipment.oneWay, of: shipment.manifest)
            let begun = Mutex(Set<Int>())
            var sending = PartSending(
                of: shipment, wanted, over: isFile ? .file : .pipe, writer,
                opened: { part, _ in begun.withLock { !$0.insert(part).inserted } }, mayGoOn: {}, report: report)
            try await sending.run()
            mayCancel = { false }
            try await writer.send(.end)
            mayCancel = { true }
            results.append(
                .success(
                    Delivery(
                        manifest: shipment.manifest, receipt: nil, bytesSent: writer.bytesSent - before.bytes,
                        store: sending.sentStore, duration: .now - before.time)))
            before = (writer.bytesSent, .now)
        }
        mayCancel = { false }
        try await writer.send(.end)
        try await writer.finish()
    }

    // MARK: Two-way

    private func runTwoWay(
        _ frames: inout FrameReader, _ conversation: ProducerConversation, _ early: EarlyWork, _ results: inout Results,
        following next: (@Sendable (Answering) async throws -> Order)?
    ) async throws {
        let writer = conversation.writer
        // A consumer that does not wait for more is asked again when there is more.
        let stays = next == nil ? false : try await conversation.stay()
        var before = (bytes: Int64(0), time: start)
        for index in results.orders.indices {
            defer { early.drop(index) }
            try await ship(
                early[index], &frames, conversation, &results, mustSucceed: !stays && results.isLastHope, after: before)
            before = (writer.bytesSent, .now)
        }
        results.tell()
        while stays, let next, let order = try await wait(for: next, &frames, conversation) {
            results.expect(order)
            try await ship(order, &frames, conversation, &results, mustSucceed: false, after: (writer.bytesSent, .now))
            results.tell()
        }
        // Whose trust was withdrawn meanwhile is told so.
        if Task.isCancelled { try authorization.check() }
        conversation.finish()
        // The consumer has said its last word, and may be gone.
        if Task.isCancelled { await writer.sendLast(.end) } else { try? await writer.send(.end) }
        try? await writer.finish()
    }

    /// - Returns: `nil` if no order comes any more, because the producer is stopped, and the consumer can be told that there is no more.
    private func wait(
        for next: @escaping @Sendable (Answering) async throws -> Order, _ frames: inout FrameReader,
        _ conversation: ProducerConversation
    ) async throws -> Order? {
        do {
            return try await conversation.whileWorking(&frames) {
                try await next { try await conversation.writer.send(.newest($0)) }
            }
        } catch {
            guard !(error is RefusedShipment), Task.isCancelled, conversation.dialogue.hasOffered else { throw error }
            return nil
        }
    }

    /// Ships one store, and adds what it came to to the results.
    ///
    /// - Parameter before: The bytes that had gone, and the time, when what came before it was over.
    private func ship(
        _ order: Order, _ frames: inout FrameReader, _ conversation: ProducerConversation, _ results: inout Results,
        mustSucceed: Bool, after before: (bytes: Int64, time: ContinuousClock.Instant)
    ) async throws {
        results.tell()
        func delivery(_ manifest: Manifest, _ receipt: Receipt, _ store: EncodedStore?) -> Delivery {
            Delivery(
                manifest: manifest, receipt: receipt, bytesSent: conversation.writer.bytesSent - before.bytes,
                store: store, duration: .now - before.time)
        }
        if let (manifest, receipt) = try await offerUnchanged(order, &frames, conversation) {
            return results.append(.success(delivery(manifest, receipt, nil)))
        }
        let copied = try await prepare(order, &results, mustSucceed) {
            try await conversation.whileWorking(&frames, $0)
        }
        guard let shipment = copied else { return }
        do throws(RefusedShipment) {
            try await finishEarlier(before: shipment, order, &frames, conversation)
            let (manifest, receipt) = try await shipInOrder(shipment, order, &frames, conversation)
            results.append(.success(delivery(manifest, receipt, conversation.sentStore)))
        } catch {
            results.append(.failure(error.cause))
            if let end = error.end { throw end }
        }
    }

    /// Offers a store that has not changed since the consumer acknowledged it, if that is current there. No copy is taken.
    ///
    /// - Returns: The consumer's last word, or `nil` where a copy has to be taken after all.
    private func offerUnchanged(
        _ order: Order, _ frames: inout FrameReader, _ conversation: ProducerConversation
    ) async throws -> (Manifest, Receipt)? {
        // It may wait for the early copy.
        let unchanged = try await conversation.whileWorking(&frames, order.unchanged)
        guard let manifest = unchanged, let content = conversation.dialogue.base(of: manifest, remembering: []) else {
            return nil
        }
        try authorization.check()
        // Whoever takes the copy says why this store may not go, and others may.
        guard (try? order.check()) != nil else { return nil }
        switch try await conversation.offer(manifest, over: content, order, &frames) {
        case .conclude(let receipt): return (manifest, receipt)
        // A new copy may be accepted; if it is refused, that is the last word.
        case .drop: return nil
        case .stop(let reason): throw ShipmentError.refused(reason)
        case .note, .compare: return nil
        case .send, .giveUp:
            // The consumer has lost something of it.
            let reason = Reason(.stopped, message: "another copy of the store is taken", ending: .shipment)
            let overdue = ShipmentError.overdue(.answer(timeouts.idle))
            guard case .conclude(let receipt) = try await conversation.cancel(reason, orFailWith: overdue, &frames)
            else { return nil }
            return (manifest, receipt)
        }
    }

    /// Finishes a shipment that broke off before one of a newer copy goes, if that can build on it: then what the consumer has of the
    /// earlier one is of use, and the newer one is small, most often.
    ///
    /// - Throws: What ends the session. If the consumer refuses the earlier shipment, the newer one goes all the same.
    private func finishEarlier(
        before shipment: OutgoingShipment, _ order: Order, _ frames: inout FrameReader,
        _ conversation: ProducerConversation
    ) async throws(RefusedShipment) {
        guard let start = conversation.dialogue.unfinished(shipment.manifest.name),
            let earlier = await order.unfinished(start, shipment)
        else { return }
        report(.finishing(earlier.manifest))
        // The order's own shipment is still to come.
        var order = order
        order.nextMayBegin = {}
        do throws(RefusedShipment) {
            _ = try await conversation.ship(earlier, order, &frames)
        } catch {
            guard error.end == nil else { throw error }
            return
        }
        do {
            // What has arrived is digested, and copied where it is to be remembered.
            try await conversation.whileWorking(&frames) { [order] in order.finished(earlier) }
        } catch {
            throw error as? RefusedShipment ?? RefusedShipment(ShipmentError(error), isEnd: true)
        }
    }

    /// Ships a copy, and where the consumer already has a shipment that this device made later, a new copy, once.
    ///
    /// Of two producers that send a store at the same time one takes its copy first, and may send its manifest last: then its number is too
    /// low, although its copy is not old.
    ///
    /// - Returns: What the consumer has, and its last word.
    private func shipInOrder(
        _ shipment: consuming OutgoingShipment, _ order: Order, _ frames: inout FrameReader,
        _ conversation: ProducerConversation
    ) async throws(RefusedShipment) -> (Manifest, Receipt) {
        // The first copy is removed before the second one is taken.
        var next: OutgoingShipment? = consume shipment
        var mayRepeat = true
        while let shipment = next.take() {
            do throws(RefusedShipment) {
                return (shipment.manifest, try await conversation.ship(shipment, order, &frames))
            } catch {
                guard mayRepeat, error.isReplayed, order.isOvertaken(shipment.manifest) else { throw error }
            }
            mayRepeat = false
            report(.overtaken(shipment.manifest.name))
            next = try await copyAgain(order, &frames, conversation)
        }
        throw RefusedShipment(ShipmentError(BrokenInvariant("there is nothing to ship")), isEnd: true)
    }

    // MARK: Copies

    /// Takes a copy while the consumer waits.
    private typealias CopyWhileWorking = (
        _ take: @escaping @Sendable () async throws -> OutgoingShipment
    ) async throws -> OutgoingShipment

    /// Takes a copy.
    ///
    /// - Parameter mustSucceed: Whether the session is of no use without it: none before it has arrived, and none follows; or one file must
    ///   have all of them.
    /// - Returns: `nil` if the copy failed, and others may go.
    private func prepare(
        _ order: Order, _ results: inout Results, _ mustSucceed: Bool, _ whileWorking: CopyWhileWorking
    ) async throws -> OutgoingShipment? {
        do {
            return try await copy(order, whileWorking)
        } catch let refused as RefusedShipment {
            throw refused
        } catch {
            let failure = ShipmentError(error)
            if mustSucceed || failure == .stopped || error is LinkError { throw failure }
            try authorization.check()
            results.append(.failure(failure))
            return nil
        }
    }

    /// Takes a second copy.
    private func copyAgain(
        _ order: Order, _ frames: inout FrameReader, _ conversation: ProducerConversation
    ) async throws(RefusedShipment) -> OutgoingShipment {
        order.dropped()
        do {
            return try await copy(order) { try await conversation.whileWorking(&frames, $0) }
        } catch let refused as RefusedShipment {
            throw refused
        } catch {
            let failure = ShipmentError(error)
            let isOver = failure == .stopped || error is LinkError || (try? authorization.check()) == nil
            throw RefusedShipment(failure, isEnd: isOver)
        }
    }

    private func copy(_ order: Order, _ whileWorking: CopyWhileWorking) async throws -> OutgoingShipment {
        try authorization.check()
        try order.check()
        let shipment = try await whileWorking(order.prepare)
        if let duration = shipment.copyDuration { report(.copied(shipment.manifest, duration)) }
        try authorization.check()
        try order.check()
        return shipment
    }
}

/// Why a shipment did not arrive.
struct RefusedShipment: Error {
    let cause: ShipmentError
    /// The failure that ends the session; `nil` if other shipments may go on.
    let end: ShipmentError?

    /// Whether others may go on, and the consumer has had a higher number.
    fileprivate var isReplayed: Bool { end == nil && cause.isReplayed }
}

extension RefusedShipment {
    init(_ cause: ShipmentError, isEnd: Bool) { self.init(cause: cause, end: isEnd ? cause : nil) }
}

extension DeviceIdentity {
    /// Signs a manifest, for everybody whom it may reach.
    func sign(_ manifest: Manifest) throws -> SignedManifest {
        let payload = try Frame.payload(of: manifest)
        let version = Preamble.spokenVersions.upperBound
        return SignedManifest(try signature(ofManifest: payload, version: version), payload: payload, saying: manifest)
    }
}

extension ShipmentError {
    /// Whether the consumer has refused a number that is not above the highest it has seen.
    var isReplayed: Bool { if case .refused(let reason) = self { reason.knownCode == .replayed } else { false } }
}
