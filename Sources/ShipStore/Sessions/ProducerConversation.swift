import ShipCompression
import ShipLinks
import ShipProtocol
import Synchronization

/// A two-way session's conversation with the consumer. While content goes, one task sends and one listens; both use this.
///
/// One task at a time reads: each method that reads is given the reader.
final class ProducerConversation: Sendable {
    let writer: FrameWriter
    let session: ProducerSession
    let state: Mutex<State>

    struct State {
        var dialogue: ProducerDialogue
        /// The shortest time in which the consumer answered: an answer for which it had to work takes longer than the link does.
        var roundTrip: Duration
        /// When the listener gives up, whatever it hears.
        var deadline: FrameReader.Deadline?
        /// Why the sending ended early, if it did.
        var failure: (any Error)?
        /// How the store of the shipment at hand went.
        var sentStore: EncodedStore?
        /// Hands what the consumer tells of a base to the task that sends.
        var ranges: AsyncStream<[UInt8]>.Continuation?
    }

    /// Takes a slow link a few seconds at the most, in bytes of the parts.
    private static let little: Int64 = 1 << 20
    /// How long the listener waits for the consumer's last word once the link takes nothing more.
    private static let lastWordTime = Duration.seconds(5)

    /// Greets the consumer.
    ///
    /// - Throws: `ShipmentError.refused`, `.link(.timedOut)`; errors of the link and of the protocol.
    init(of session: ProducerSession, _ writer: FrameWriter, greeting frames: inout FrameReader) async throws {
        self.session = session
        self.writer = writer
        let start = ContinuousClock.now
        let deadline = FrameReader.Deadline(end: start + session.timeouts.hello, error: .link(.timedOut(.reading)))
        var dialogue = ProducerDialogue()
        try await writer.begin(as: .producer, .twoWay)
        while !dialogue.isGreeted {
            let element = try await Self.nextElement(&frames, by: deadline)
            if case .stop(let reason) = try dialogue.receive(element) { throw ShipmentError.refused(reason) }
        }
        state = Mutex(State(dialogue: dialogue, roundTrip: .now - start))
    }

    // MARK: What both tasks know

    /// How the store of the shipment at hand went, as far as it went.
    var sentStore: EncodedStore? { state.withLock { $0.sentStore } }

    /// As it stands now.
    var dialogue: ProducerDialogue { state.withLock { $0.dialogue } }

    /// Tells a consumer that waits for it that this side stays when there is nothing to ship.
    ///
    /// - Returns: Whether the consumer waits for it.
    func stay() async throws -> Bool {
        guard let stay = state.withLock({ $0.dialogue.stay(every: session.timeouts.keepAlive) }) else { return false }
        try await writer.send(.stay(stay))
        if session.asked != nil, state.withLock({ $0.dialogue.answersQuestions() }) { try await writer.send(.askable) }
        return true
    }

    /// No shipment follows.
    func finish() { state.withLock { $0.dialogue.finished() } }

    // MARK: Between two shipments

    /// Does work that no shipment is under way for, or waits for a shipment; tells the consumer that this side is still there, and hears
    /// whether the consumer goes on waiting.
    ///
    /// - Throws: What the work throws; `RefusedShipment` if the consumer has ended the session, or is gone: then the work is cancelled.
    func whileWorking<Result: Sendable>(
        _ frames: inout FrameReader, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let reader = frames
        let (result, left) = try await writer.whileWorking(every: dialogue.stays) {
            try await withThrowingTaskGroup(of: (Swift.Result<Result, any Error>?, FrameReader?).self) { group in
                group.addTask { (nil, try await self.listen(reader)) }
                group.addTask {
                    do {
                        return (.success(try await work()), nil)
                    } catch {
                        return (.failure(error), nil)
                    }
                }
                var (result, left): (Swift.Result<Result, any Error>?, FrameReader?)
                while let (done, heard) = try await group.next() {
                    (result, left) = (done ?? result, heard ?? left)
                    group.cancelAll()
                }
                return (result, left)
            }
        }
        guard let result, let left else { throw CancellationError() }
        frames = left
        return try result.get()
    }

    /// Hears what the consumer says between two shipments, until the task is cancelled.
    ///
    /// - Returns: The reader, from which others read on.
    private func listen(_ reader: FrameReader) async throws(RefusedShipment) -> FrameReader {
        var frames = reader
        let silence = dialogue.stays.map { $0 + session.timeouts.idle }
        func next() async throws -> FrameParser.Element? {
            // A consumer that does not stay says nothing between two shipments.
            guard let silence else { return try await frames.nextAtAnyTime() }
            return try await frames.next(within: silence)
        }
        do {
            while let element = try await next() {
                let action = try state.withLock { state throws(ProtocolError) in try state.dialogue.receive(element) }
                if case .note(let question) = action { session.asked?(question) }
                if case .stop(let reason) = action { throw ShipmentError.refused(reason) }
            }
            throw LinkError.closedByPeer
        } catch LinkError.cancelled {
            return frames
        } catch {
            throw RefusedShipment(ShipmentError(error), isEnd: true)
        }
    }

    // MARK: One shipment

    /// Ships, from the offer to the consumer's last word.
    func ship(
        _ shipment: OutgoingShipment, _ order: ProducerSession.Order, _ frames: inout FrameReader
    ) async throws(RefusedShipment) -> Receipt {
        do {
            // A failure here ends the shipment alone: nothing is said of it yet.
            do { try order.check() } catch { throw RefusedShipment(ShipmentError(error), isEnd: false) }
            var action = try await offer(shipment, order, &frames)
            writer.expectWork(on: shipment.manifest.totalSize)
            var rounds = 0
            while true {
                switch action {
                case .conclude(let receipt): return receipt
                case .drop(let reason):
                    if dialogue.mayCancel { try await sendCancel(reason) }
                    throw RefusedShipment(.refused(reason), isEnd: false)
                case .send(let wanted):
                    if rounds > 0 { session.report(.startedAgain(.notMadeByConsumer)) }
                    rounds += 1
                    switch try await send(shipment, order, wanted, &frames) {
                    case .success(let next): action = next
                    case .failure(let failure): return try await giveUp(failure, &frames)
                    }
                case .giveUp(let error): return try await giveUp(ShipmentError(error), &frames)
                case .stop(let reason): throw ShipmentError.refused(reason)
                case .note, .compare: throw BrokenInvariant("what is no answer is taken for one")
                }
            }
        } catch let refused as RefusedShipment {
            throw refused
        } catch {
            // Whatever ended the session, the consumer may keep what has come of the shipment.
            shipment.record?.breakOff()
            throw RefusedShipment(ShipmentError(error), isEnd: true)
        }
    }

    /// Takes a shipment back, and waits for the consumer's last word on it; throws the failure if that does not come.
    func cancel(
        _ reason: Reason, orFailWith failure: ShipmentError, _ frames: inout FrameReader
    ) async throws -> ProducerDialogue.Action {
        try await sendCancel(reason)
        let deadline = FrameReader.Deadline(end: .now + session.timeouts.idle, error: failure)
        return try await nextAction(&frames, by: deadline)
    }

    private func sendCancel(_ reason: Reason) async throws {
        try await writer.send(.cancel(reason.ending(.shipment)))
        state.withLock { $0.dialogue.cancelled() }
    }

    /// Takes a shipment back that this side cannot finish; others may go on.
    ///
    /// - Returns: The receipt of a consumer that had the shipment already, and said so before it heard of this.
    private func giveUp(
        _ failure: ShipmentError, _ frames: inout FrameReader
    ) async throws(RefusedShipment) -> Receipt {
        guard failure != .stopped, dialogue.mayCancel, let reason = failure.cancellation else {
            throw RefusedShipment(failure, isEnd: true)
        }
        do {
            try await sendCancel(reason)
            let deadline = FrameReader.Deadline(end: .now + session.timeouts.idle, error: failure)
            if dialogue.isAwaiting,
                case .conclude(let receipt) = try await nextAction(&frames, by: deadline)
            {
                return receipt
            }
        } catch {
            throw RefusedShipment(cause: failure, end: ShipmentError(error))
        }
        throw RefusedShipment(failure, isEnd: false)
    }

    // MARK: Content

    /// The consumer does not take what is being sent.
    private struct Dropped: Error {}

    /// What the consumer's answer asks for, or why this side cannot go on with the shipment; and the reader, from which others read on.
    private typealias Heard = (result: Result<ProducerDialogue.Action, ShipmentError>, reader: FrameReader)

    /// Sends the content, and listens at the same time: the consumer may refuse at any moment.
    ///
    /// - Returns: What the consumer's answer asks for; a failure if this side itself cannot go on with the shipment.
    /// - Throws: What ends the session.
    private func send(
        _ shipment: OutgoingShipment, _ order: ProducerSession.Order, _ wanted: [WantedPart],
        _ frames: inout FrameReader
    ) async throws -> Result<ProducerDialogue.Action, ShipmentError> {
        let (ranges, told) = AsyncStream<[UInt8]>.makeStream()
        state.withLock { ($0.deadline, $0.failure, $0.ranges) = (nil, nil, told) }
        let reader = frames
        let (heard, failure) = await withThrowingTaskGroup(of: Heard?.self) { group in
            group.addTask {
                try await self.sendContent(shipment, order, wanted, hearing: ranges)
                return nil
            }
            group.addTask { try await self.hear(reader) }
            var (heard, failure): (Heard?, (any Error)?)
            // The answer to END may come before the link has said that END has gone.
            while let end = await group.nextResult() {
                switch end {
                case .success(nil): break
                case .success(let answer?):
                    heard = answer
                    // Whoever waits for what the consumer tells of a base hears no more.
                    told.finish()
                case .failure(let error):
                    // What the other task throws once it is cancelled says nothing, but for a refusal that it has heard.
                    failure = error.isRefusal ? error : failure ?? error
                    group.cancelAll()
                }
            }
            return (heard, failure)
        }
        guard let heard else { throw failure ?? CancellationError() }
        frames = heard.reader
        switch heard.result {
        case .success(.drop): break
        case .success: if let failure { throw failure }
        case .failure(let failure): if Task.isCancelled { throw failure }
        }
        return heard.result
    }

    /// Hears the consumer's answer to what is being sent.
    ///
    /// - Throws: What ends the session.
    private func hear(_ reader: FrameReader) async throws -> Heard {
        var frames = reader
        do {
            return (.success(try await nextAction(&frames, by: state.withLock { $0.deadline })), frames)
        } catch {
            // The failure of the sender has stopped the listener.
            guard let failure = state.withLock({ $0.failure }), !error.isRefusal else { throw error }
            if failure is LinkError { throw failure }
            return (.failure(ShipmentError(failure)), frames)
        }
    }

    private func sendContent(
        _ shipment: OutgoingShipment, _ order: ProducerSession.Order, _ wanted: [WantedPart],
        hearing ranges: AsyncStream<[UInt8]>
    ) async throws {
        let timeouts = session.timeouts
        let link = AdaptiveCompression.Link.twoWay(
            roundTrip: state.withLock { $0.roundTrip }, limit: session.rateLimit?.bytesPerSecond)
        do {
            let toCome = wanted.reduce(Int64(0)) { $0 + shipment.manifest.parts[$1.index].size }
            if toCome <= Self.little { order.nextMayBegin() }
            let sent = try await session.authorization.whileItLasts(by: order.check) {
                var sending = PartSending(
                    of: shipment, wanted, over: link, self.writer,
                    compare: { request in try await self.compare(request, of: shipment.manifest, hearing: ranges) },
                    opened: { part, encoding in self.state.withLock { $0.dialogue.opened(part: part, encoding) } },
                    mayGoOn: { if !self.dialogue.maySend { throw Dropped() } },
                    report: self.session.report)
                try await sending.run()
                return sending.sentStore
            }
            // After a question, only what was asked for goes, which may be no store.
            if let sent { state.withLock { $0.sentStore = sent } }
            try session.authorization.check()
            try order.check()
            if !state.withLock({ $0.dialogue.sentAll() }) { throw Dropped() }
            try await writer.send(.end)
            order.nextMayBegin()
            let limit = timeouts.work(on: shipment.manifest.totalSize)
            state.withLock {
                $0.deadline = FrameReader.Deadline(end: .now + limit, error: .overdue(.receipt(limit)))
            }
            session.report(.awaitingReceipt)
        } catch is Dropped {
            // The listener knows why; it waits until the frame that was under way is complete.
        } catch let error as LinkError {
            // Only the listener can learn why the link broke: the consumer's last word may still come.
            let end = ContinuousClock.now + min(timeouts.idle, Self.lastWordTime)
            state.withLock {
                ($0.failure, $0.deadline) = (error, FrameReader.Deadline(end: end, error: ShipmentError(error)))
            }
        } catch {
            state.withLock { $0.failure = error }
            throw error
        }
    }

    /// Asks the consumer about the base of the store.
    private func compare(
        _ request: [UInt8], of manifest: Manifest, hearing ranges: AsyncStream<[UInt8]>
    ) async throws -> [UInt8] {
        // It reads its store, which takes no longer than to install one.
        let limit = session.timeouts.work(on: manifest.totalSize)
        let mayAsk = state.withLock { state in
            state.deadline = FrameReader.Deadline(end: .now + limit, error: .overdue(.comparison(limit)))
            return state.dialogue.asksAboutBase()
        }
        guard mayAsk else { throw Dropped() }
        try await writer.send(.compare(request))
        var answers = ranges.makeAsyncIterator()
        guard let answer = await answers.next() else { throw CancellationError() }
        state.withLock { $0.deadline = nil }
        return answer
    }

    // MARK: Listening

    /// The action that the consumer's next word asks for.
    ///
    /// - Throws: `ShipmentError.refused` if the consumer ends the session.
    func nextAction(
        _ frames: inout FrameReader, by deadline: @autoclosure () -> FrameReader.Deadline?
    ) async throws -> ProducerDialogue.Action {
        while true {
            let element = try await Self.nextElement(&frames, by: deadline())
            let action = try state.withLock { state throws(ProtocolError) in try state.dialogue.receive(element) }
            switch action {
            case nil: continue
            case .note(let question): session.asked?(question)
            case .compare(let ranges): _ = state.withLock { $0.ranges }?.yield(ranges)
            case .stop(let reason): throw ShipmentError.refused(reason)
            case .some(let action): return action
            }
        }
    }

    private static func nextElement(
        _ frames: inout FrameReader, by deadline: @autoclosure () -> FrameReader.Deadline?
    ) async throws -> FrameParser.Element {
        do {
            if let element = try await frames.next(by: deadline()) { return element }
        } catch ProtocolError.truncated {
            // Whether or not the stream ends within a frame: without its last word the consumer is gone.
        }
        throw LinkError.closedByPeer
    }
}

extension Error {
    fileprivate var isRefusal: Bool {
        if case .refused? = self as? ShipmentError { true } else { false }
    }
}
