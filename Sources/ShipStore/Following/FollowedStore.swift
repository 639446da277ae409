import ShipProtocol
import StoreSnapshot
import Synchronization
import SystemPackage

/// A store that is followed for one receiver: when it is to be looked at, and what the receiver has.
final class FollowedStore: Sendable {
    let watched: WatchedStore
    private let following: Following
    /// Called once, when the store is no longer followed.
    private let tellEnd: @Sendable (ShipmentError) -> Void
    private let state = Mutex(State())

    private struct State {
        /// The first and the last notice of a change since the last look began.
        var noticed: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
        /// Nothing is shipped before.
        var notBefore = ContinuousClock.now
        /// As the store was when the receiver acknowledged it.
        var shipped: WatchedStore.Look?
        /// The content of the manifest that the receiver acknowledged last in this session.
        var content: ManifestContent.ID?
        /// The nonce of the last question that is not answered yet.
        var question: UInt64?
        /// The answer in a shipment that is to be offered, as its copy was begun after the question had come.
        var answer: Newest?
        /// No question is answered before, unless by a shipment.
        var noAnswerBefore = ContinuousClock.now
        /// Looks that have found nothing new, one after the other.
        var looksInVain = 0
        var failures = 0
        /// Whether the state that was read last has rows.
        var hasRows = true
        /// Why the last shipment did not arrive: it is said once.
        var failure: ShipmentError?
        /// Why the store is no longer followed.
        var end: ShipmentError?
    }

    /// How often a store is shipped that is refused for good.
    private static let mostAttempts = 3
    private static let backoff = Backoff(first: .seconds(1), longest: .seconds(300))
    /// A fault of the store itself is mended here, at any moment.
    private static let backoffOfSource = Backoff(first: .seconds(1), longest: .seconds(30))
    /// A look may make notices itself, and where a clock was set back nothing tells them from those of a commit.
    private static let mostLooksInVain = 3
    private static let backoffInVain = Backoff(first: .seconds(1), longest: .seconds(5))
    /// Each answer may cost a look.
    private static let leastTimeOfAnswers = Duration.milliseconds(100)

    init(
        _ watched: WatchedStore, _ following: Following, tellingEnd tellEnd: @escaping @Sendable (ShipmentError) -> Void
    ) { (self.watched, self.following, self.tellEnd) = (watched, following, tellEnd) }

    var name: StoreName { watched.name }

    /// Why the store is no longer followed; `nil` if it is.
    var end: ShipmentError? { state.withLock { $0.end } }

    /// It may have changed. What is there again is not waited for any more.
    func notice() {
        let now = ContinuousClock.now
        let isBack = state.withLock { $0.failure?.isOfNoFile == true } && watched.hasFile
        state.withLock { state in
            state.noticed = (state.noticed?.first ?? now, now)
            if isBack { (state.failures, state.notBefore) = (0, now) }
        }
    }

    /// Why a store is to be looked at.
    enum Cause { case notice, question }

    /// When it is to be looked at, and why; `nil` if nothing has been noticed since the last look, and nobody asks. A store that may have
    /// changed is not looked at earlier for a question: the shipment answers it.
    var due: (at: ContinuousClock.Instant, Cause)? {
        let due: (at: ContinuousClock.Instant, Cause)? = state.withLock { state in
            guard state.end == nil else { return nil }
            guard let noticed = state.noticed else {
                return state.question == nil ? nil : (state.noAnswerBefore, .question)
            }
            // An inbox switches in one step: there is nothing to wait for.
            let settling = watched.isHeld ? .zero : following.settling
            let settled = min(noticed.last + settling, noticed.first + following.longestDelay)
            return (max(settled, state.notBefore), .notice)
        }
        guard let due, due.1 == .notice else { return due }
        return (watched.rest.map { max(due.at, $0) } ?? due.at, .notice)
    }

    /// Whether the receiver may not have what the store holds now.
    func mayHaveChanged() async -> Bool {
        let shipped = state.withLock { state in
            // A notice that comes from here on counts.
            state.noticed = nil
            return state.shipped
        }
        guard let shipped else { return true }
        if let left = shipped.left, left == watched.traces { return false }
        guard let known = shipped.state else { return true }
        let look = await watched.look()
        guard look.state == known else { return true }
        state.withLock { state in
            state.shipped = look
            Self.lookInVain(&state)
        }
        return false
    }

    private static func lookInVain(_ state: inout State) {
        state.looksInVain += 1
        guard state.looksInVain > mostLooksInVain else { return }
        let delay = backoffInVain.delay(after: state.looksInVain - mostLooksInVain)
        state.notBefore = max(state.notBefore, .now + delay)
    }

    // MARK: Questions

    /// A session begins: what was asked in the one before is not answered.
    func begin() { state.withLock { ($0.content, $0.question, $0.answer) = (nil, nil, nil) } }

    /// The receiver asks for the newest state.
    func ask(_ nonce: UInt64) { state.withLock { $0.question = nonce } }

    /// The last question, which is not answered. A state that is read from here on answers it.
    var question: UInt64? { state.withLock { $0.question } }

    /// The answer to a question since which the store has been found as the receiver has it.
    ///
    /// - Returns: `nil` if the receiver has nothing of this session.
    func unchanged(since question: UInt64) -> Newest? {
        state.withLock { state in
            state.noAnswerBefore = .now + Self.leastTimeOfAnswers
            if state.question == question { state.question = nil }
            return state.content.map { Newest(answering: question, $0) }
        }
    }

    /// A state has been read that is to be offered.
    private func read(_ manifest: Manifest, since question: UInt64?) {
        let answer = question.map { Newest(answering: $0, ManifestContent(of: manifest).id) }
        state.withLock { ($0.answer, $0.hasRows) = (answer, manifest.hasRows) }
    }

    /// The answer in the offer of a manifest, if it is of the state that was read last; once.
    private func takeAnswer(by manifest: Manifest) -> Newest? {
        state.withLock { state in
            guard let answer = state.answer, answer.content == ManifestContent(of: manifest).id else { return nil }
            state.answer = nil
            if state.question == answer.nonce { state.question = nil }
            return answer
        }
    }

    // MARK: Shipping

    /// The same order, which tells this store what becomes of it; `end` is called when the shipment is to end for newer ones.
    func follow(
        _ order: ProducerSession.Order, makingWay end: @escaping @Sendable () -> Void
    ) -> ProducerSession.Order {
        let found = Mutex(WatchedStore.Look())
        let underWay = Mutex<Registration?>(nil)
        var followed = order
        followed.unchanged = { [self] in
            // What comes while this is under way counts as a change since.
            state.withLock { $0.noticed = nil }
            let question = question
            let look = await watched.look()
            found.withLock { $0 = look }
            let manifest = await order.unchanged()
            if let manifest { read(manifest, since: question) }
            return manifest
        }
        followed.prepare = { [self] in
            state.withLock { $0.noticed = nil }
            let question = question
            let shipment = try await order.prepare()
            read(shipment.manifest, since: question)
            underWay.withLock { $0 = shipment.version.makingWay.add(end) }
            found.withLock { $0 = WatchedStore.Look(state: shipment.version.state, left: shipment.version.left) }
            return shipment
        }
        followed.answer = { [self] in takeAnswer(by: $0) }
        followed.ended = { [self] result in
            underWay.withLock { $0 = nil }
            if isNews(result) { order.ended(result) }
            ended(result, found.withLock { $0 })
            guard let end = self.end else { return }
            tellEnd(end)
            // Nothing of it stays in RAM.
            if let recent = watched.recent { Task { await recent.settle() } }
        }
        return followed
    }

    /// Whether a result is to be told: what goes on failing for the same reason is told once.
    private func isNews(_ result: Result<Delivery, ShipmentError>) -> Bool {
        switch result {
        case .success: true
        case .failure(let error) where error.breaksLink || error == .stopped: false
        case .failure(let error): state.withLock { $0.failure != error }
        }
    }

    /// - Parameter shipped: As the store was when it was shipped.
    private func ended(_ result: Result<Delivery, ShipmentError>, _ shipped: WatchedStore.Look) {
        state.withLock { state in
            switch result {
            case .success(let delivery):
                (state.shipped, state.failures, state.failure) = (shipped, 0, nil)
                state.content = ManifestContent(of: delivery.manifest).id
                if delivery.receipt?.outcome == .unchanged {
                    Self.lookInVain(&state)
                } else {
                    state.looksInVain = 0
                }
                state.notBefore = max(state.notBefore, .now + following.minimumInterval)
            case .failure(let error) where error.isReplayed || watched.isHeld && error.isOfNothingToPassOn:
                // The receiver has the same or something newer, by another way, or cannot be given this, or it is gone: the next state may
                // bring what goes on. Before that no other number is drawn: a device that was restored from a backup would count up.
                (state.shipped, state.content, state.failure) = (shipped, nil, error)
                state.failures = watched.isHeld ? 0 : state.failures + 1
                if !following.keepsTrying, state.failures >= Self.mostAttempts { state.end = error }
            case .failure(let error):
                // It has not arrived, so it counts as changed.
                state.shipped?.left = nil
                let now = ContinuousClock.now
                state.noticed = state.noticed ?? (now, now)
                if error.breaksLink || error == .stopped { return }
                state.failure = error
                state.failures += 1
                // Without rows it is to get some, and what was right before, or is waited for, is to be put in its place.
                let isAwaited = state.shipped != nil || following.keepsTrying
                let isToBeMended = !state.hasRows || isAwaited && error.isOfSource
                let backoff = isToBeMended ? Self.backoffOfSource : Self.backoff
                state.notBefore = max(state.notBefore, now + backoff.unevenDelay(after: state.failures))
                // A store that is being made anew, or migrated, may be refused for a moment.
                if !error.mayPass, !following.keepsTrying, !isToBeMended, state.failures >= Self.mostAttempts {
                    state.end = error
                }
            }
        }
    }
}

extension ShipmentError {
    /// Whether it is about the file of the store.
    fileprivate var isOfSource: Bool { if case .source = self { true } else { false } }

    /// Whether there was none.
    fileprivate var isOfNoFile: Bool { if case .source(.noSuchFile) = self { true } else { false } }

    /// Whether an inbox is not there, or has no such store, or what it holds came without a signature.
    fileprivate var isOfNothingToPassOn: Bool {
        switch self {
        case .install(.noInbox), .install(.noSuchStore), .notSigned: true
        default: false
        }
    }
}
