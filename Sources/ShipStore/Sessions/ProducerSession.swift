import DeviceTrust
import ShipCompression
import ShipLinks
import ShipProtocol
import Synchronization

/// One session on the producer's side, from the open link to the consumer's last word on the last shipment.
///
/// Source: `Protocol/README.md` section 6.1.
struct ProducerSession {
    let timeouts: Timeouts
    /// Who signs one-way shipments; `nil` where nobody does.
    var signer: DeviceIdentity?
    /// Whether the consumer may have anything.
    let standing: SessionStanding
    /// Whether lengths are made to say little.
    var isPadded = false
    /// When the work began: before the link was opened.
    var start = ContinuousClock.now
    let report: @Sendable (SendEvent) -> Void

    /// How long the consumer's last word may be on its way once the link takes nothing any more.
    private static let lastWordTime = Duration.seconds(5)

    /// Ships one store after the other.
    ///
    /// - Returns: What each came to, in the order of the orders. A session that breaks off fails the shipment that it is in, and
    ///   all after it.
    func run(_ link: PeerLink, _ orders: [Order]) async -> [Result<Outcome, ShipmentError>] {
        let writer = FrameWriter(link.writer, timeouts, isPadded: isPadded)
        var results = Results(of: orders)
        let early = EarlyWork(on: orders)
        // After END it would come too late.
        var mayCancel = { true }
        do {
            switch link.direction {
            case .oneWay: try await runOneWay(writer, link.medium, &results, &mayCancel)
            case .twoWay:
                var (frames, roundTrip) = (FrameReader(link.reader, timeouts), RoundTrip())
                let conversation = ProducerConversation(try await greet(&frames, writer, &roundTrip))
                mayCancel = { conversation.mayCancelSession }
                report(.connected("\(link.peer)"))
                try await runTwoWay(&frames, writer, conversation, &roundTrip, early, &results)
            }
        } catch {
            let failure = ShipmentError(error)
            if mayCancel(), let reason = failure.cancellation { await writer.sendLast(.cancel(reason)) }
            if link.medium == .file { results.failAll(failure) } else { results.fail(failure) }
        }
        // No order gets a copy any more once it is told what it came to.
        await early.end()
        results.tell()
        await results.settle()
        return results.all
    }

    /// Everything is sent, and nobody answers.
    private func runOneWay(
        _ writer: FrameWriter, _ medium: PeerLink.Medium, _ results: inout Results, _ mayCancel: inout () -> Bool
    ) async throws {
        try await writer.send(Preamble(role: .producer, mode: .oneWay))
        var before = (bytes: Int64(0), time: start)
        for order in results.orders {
            let mustSucceed = medium == .file || results.isLastHope
            guard let shipment = try await prepare(order, writer, &results, mustSucceed) else {
                before.time = .now
                continue
            }
            if let signer {
                let payload = try Frame.payload(of: shipment.manifest)
                let version = Preamble.spokenVersions.upperBound
                try await writer.send(.signature(try signer.signature(ofManifest: payload, version: version)))
            }
            try await writer.send(.manifest(shipment.manifest))
            // Who reads it knows what this version knows, or refuses it.
            let wanted = try CommonEncodings.ofVersion.wanted(by: .everything, of: shipment.manifest)
            let begun = Mutex(Set<Int>())
            var sending = PartSending(
                of: shipment, wanted, over: medium == .file ? .file : .pipe, writer,
                opened: { part, _ in begun.withLock { !$0.insert(part).inserted } }, mayGoOn: {})
            try await sending.run(report)
            let sentStore = sending.sentStore
            mayCancel = { false }
            try await writer.send(.end)
            mayCancel = { true }
            results.append(
                .success(
                    Outcome(
                        manifest: shipment.manifest, bytesSent: writer.bytesSent - before.bytes, sentStore: sentStore,
                        duration: .now - before.time, receipt: nil)))
            before = (writer.bytesSent, .now)
        }
        mayCancel = { false }
        try await writer.send(.end)
        try await writer.finish()
    }

    /// Takes a copy.
    ///
    /// - Parameter mustSucceed: Whether the session is of no use without it: it is the last one, and none before it has gone; or
    ///   all are to stand in one file, or none.
    /// - Returns: `nil` if that failed, and nothing of it has gone.
    private func prepare(
        _ order: Order, _ writer: FrameWriter, _ results: inout Results, _ mustSucceed: Bool
    ) async throws -> OutgoingShipment? {
        do {
            return try await copy(order, writer)
        } catch {
            let failure = ShipmentError(error)
            if mustSucceed || failure == .stopped || error is LinkError { throw failure }
            try standing.check()
            results.append(.failure(failure))
            return nil
        }
    }

    func copy(_ order: Order, _ writer: FrameWriter) async throws -> OutgoingShipment {
        try standing.check()
        try order.check()
        let shipment = try await writer.whileWorking(order.prepare)
        if let duration = shipment.copyDuration { report(.copied(shipment.manifest, duration)) }
        try standing.check()
        try order.check()
        return shipment
    }

    private func greet(
        _ frames: inout FrameReader, _ writer: FrameWriter, _ roundTrip: inout RoundTrip
    ) async throws -> ProducerDialogue {
        let deadline = FrameReader.Deadline(end: .now + timeouts.hello, error: .link(.timedOut(.reading)))
        var greeting = ProducerGreeting()
        roundTrip.begin()
        try await writer.send(Preamble(role: .producer, mode: .twoWay))
        while true {
            switch try greeting.receive(try await nextElement(&frames, by: deadline)) {
            case nil: continue
            case .goOn(let dialogue):
                roundTrip.end()
                return dialogue
            case .stop(let reason): throw ShipmentError.refused(reason)
            }
        }
    }

    private func runTwoWay(
        _ frames: inout FrameReader, _ writer: FrameWriter, _ conversation: ProducerConversation,
        _ roundTrip: inout RoundTrip, _ early: EarlyWork, _ results: inout Results
    ) async throws {
        var before = (bytes: Int64(0), time: start)
        for index in results.orders.indices {
            let order = early[index]
            defer { early.drop(index) }
            results.tell()
            if let (manifest, receipt) = try await offerUnchanged(order, &frames, writer, conversation, &roundTrip) {
                results.append(
                    .success(
                        Outcome(
                            manifest: manifest, bytesSent: writer.bytesSent - before.bytes, sentStore: nil,
                            duration: .now - before.time, receipt: receipt)))
                before = (writer.bytesSent, .now)
                continue
            }
            guard let shipment = try await prepare(order, writer, &results, results.isLastHope) else {
                before.time = .now
                continue
            }
            do throws(RefusedShipment) {
                try await finishEarlier(before: shipment, order, &frames, writer, conversation, &roundTrip)
                let (manifest, receipt) = try await shipInOrder(
                    shipment, order, &frames, writer, conversation, &roundTrip)
                results.append(
                    .success(
                        Outcome(
                            manifest: manifest, bytesSent: writer.bytesSent - before.bytes,
                            sentStore: conversation.sentStore, duration: .now - before.time, receipt: receipt)))
            } catch {
                results.append(.failure(error.cause))
                if let end = error.end { throw end }
            }
            before = (writer.bytesSent, .now)
        }
        results.tell()
        conversation.finish()
        // The consumer has said its last word, and may be gone: whether it hears that nothing more comes does not matter.
        try? await writer.send(.end)
        try? await writer.finish()
    }

    /// Why a shipment did not arrive.
    struct RefusedShipment: Error {
        let cause: ShipmentError
        /// Why others have no better chance; `nil` if they have.
        let end: ShipmentError?

        /// - Parameter end: Whether nothing else can arrive for this.
        init(_ cause: ShipmentError, isEnd: Bool) {
            self.cause = cause
            end = isEnd ? cause : nil
        }

        init(_ cause: ShipmentError, endingWith end: ShipmentError) {
            self.cause = cause
            self.end = end
        }
    }

    /// From the offer to the consumer's last word.
    func ship(
        _ shipment: OutgoingShipment, _ order: Order, _ frames: inout FrameReader, _ writer: FrameWriter,
        _ conversation: ProducerConversation, _ roundTrip: inout RoundTrip
    ) async throws(RefusedShipment) -> Receipt {
        do {
            roundTrip.begin()
            let base = conversation.base(of: shipment.manifest, remembering: shipment.bases.map(\.content))
            frames.offer = try await writer.offer(shipment.manifest, over: base)
            try conversation.offered(shipment.manifest)
            // The consumer gives up waiting for its turn somewhat earlier, and says why.
            let patience = timeouts.work(on: shipment.manifest.totalSize) + timeouts.idle
            let answered = FrameReader.Deadline(end: .now + patience, error: .overdue(.answer(patience)))
            var action = try await nextAction(&frames, conversation, by: answered)
            roundTrip.end()
            writer.expectWork(on: shipment.manifest.totalSize)
            let link = SendingPolicy.Link.twoWay(roundTrip: roundTrip.shortest)
            var rounds = 0
            while true {
                switch action {
                case .conclude(let receipt): return receipt
                case .drop(let reason):
                    if conversation.mayCancel {
                        try await writer.send(.cancel(reason.ending(.shipment)))
                        conversation.cancelled()
                    }
                    throw RefusedShipment(.refused(reason), isEnd: false)
                case .send(let wanted):
                    if rounds > 0 { report(.startedAgain(.notMadeByConsumer)) }
                    rounds += 1
                    action = try await send(shipment, order, wanted, over: link, writer, &frames, conversation)
                case .giveUp(let error): throw OwnFailure(cause: error)
                case .stop(let reason): throw ShipmentError.refused(reason)
                }
            }
        } catch let refused as RefusedShipment {
            throw refused
        } catch let failure as OwnFailure {
            return try await giveUp(ShipmentError(failure.cause), &frames, writer, conversation)
        } catch {
            // Whatever ended the session: what has come may wait at the other end.
            shipment.record?.breakOff()
            throw RefusedShipment(ShipmentError(error), isEnd: true)
        }
    }

    /// This side cannot go on with a shipment, but with others.
    ///
    /// - Returns: The receipt of a consumer that had the shipment already, which came first.
    private func giveUp(
        _ failure: ShipmentError, _ frames: inout FrameReader, _ writer: FrameWriter,
        _ conversation: ProducerConversation
    ) async throws(RefusedShipment) -> Receipt {
        guard failure != .stopped, conversation.mayCancel, let reason = failure.cancellation else {
            throw RefusedShipment(failure, isEnd: true)
        }
        do {
            try await writer.send(.cancel(reason.ending(.shipment)))
            conversation.cancelled()
            let deadline = FrameReader.Deadline(end: .now + timeouts.idle, error: failure)
            if conversation.isAwaiting,
                case .conclude(let receipt) = try await nextAction(&frames, conversation, by: deadline)
            {
                return receipt
            }
        } catch {
            throw RefusedShipment(failure, endingWith: ShipmentError(error))
        }
        throw RefusedShipment(failure, isEnd: false)
    }

    /// Sends the content, and listens meanwhile: the consumer may refuse at any moment.
    ///
    /// - Returns: What the consumer's answer asks for.
    /// - Throws: `OwnFailure` where this side cannot go on with the shipment.
    private func send(
        _ shipment: OutgoingShipment, _ order: Order, _ wanted: [WantedPart], over link: SendingPolicy.Link,
        _ writer: FrameWriter, _ frames: inout FrameReader, _ conversation: ProducerConversation
    ) async throws -> ProducerDialogue.Action {
        conversation.beginSending()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [report, standing, timeouts] in
                do {
                    var sending = PartSending(
                        of: shipment, wanted, over: link, writer,
                        opened: { conversation.opened(part: $0, $1) }, mayGoOn: { try conversation.checkMaySend() })
                    try await sending.run(report)
                    conversation.sent(sending.sentStore)
                    try standing.check()
                    try order.check()
                    try conversation.sentAll()
                    try await writer.send(.end)
                    order.sent()
                    conversation.limit(timeouts.work(on: shipment.manifest.totalSize))
                    report(.awaitingReceipt)
                } catch is ProducerConversation.Dropped {
                    // The listener knows why, and waits until the frame that was under way is whole.
                } catch let error as LinkError {
                    // Only the listener knows why the link broke: the consumer's last word may still be on it. It does
                    // not wait for that for long.
                    conversation.fail(error, waiting: min(timeouts.idle, Self.lastWordTime))
                } catch {
                    conversation.fail(error, waiting: .zero)
                    throw error
                }
            }
            let action: ProducerDialogue.Action
            do {
                action = try await nextAction(&frames, conversation, by: conversation.deadline)
            } catch {
                // The listener is told to stop by what the sender has come to; what that comes to once it is cancelled says
                // nothing.
                let failure = conversation.failure
                group.cancelAll()
                if let failure, !Self.isRefusal(error) {
                    throw failure is LinkError || Task.isCancelled ? failure : OwnFailure(cause: failure)
                }
                throw error
            }
            // The answer to END may be here before the link has said that END is gone.
            do {
                try await group.waitForAll()
            } catch {
                if case .drop = action { return action }
                throw error
            }
            return action
        }
    }

    /// What this side itself could not do.
    private struct OwnFailure: Error {
        let cause: any Error
    }

    private static func isRefusal(_ error: any Error) -> Bool {
        if case .refused? = error as? ShipmentError { true } else { false }
    }

    /// What the consumer's next word asks for; the end of the session is thrown.
    func nextAction(
        _ frames: inout FrameReader, _ conversation: ProducerConversation,
        by deadline: @autoclosure () -> FrameReader.Deadline?
    ) async throws -> ProducerDialogue.Action {
        while true {
            switch try conversation.receive(try await nextElement(&frames, by: deadline())) {
            case nil: continue
            case .stop(let reason): throw ShipmentError.refused(reason)
            case .some(let action): return action
            }
        }
    }

    private func nextElement(
        _ frames: inout FrameReader, by deadline: @autoclosure () -> FrameReader.Deadline?
    ) async throws -> FrameParser.Element {
        do {
            if let element = try await frames.next(by: deadline()) { return element }
        } catch ProtocolError.truncated {
            // Whole words or half of one: without its last the consumer is gone.
        }
        throw LinkError.closedByPeer
    }
}
