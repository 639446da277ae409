public import EssentialFoundation
public import ShipStore
import Synchronization
public import SystemPackage

/// The phone's half of an exchange of stores over a session that delivers in its own time, such as WatchConnectivity's. It brings the
/// watch's stores up to date with few bytes, although messages may get lost or come late or twice, and either app may start anew.
///
///     TransferSender  -- ask -->                TransferReceiver
///                     <-- answer, holdings --
///                     -- store, a shipment -->
///                     <-- answer, holdings --
///
/// A difference that is small goes in the session's application context: the latest is there when the watch's app wakes, and those before have not
/// cost a transfer. What is larger goes as a file.
///
/// It sends the difference from what the receiver says that it holds; nothing if that is the newest content; and a complete store if the
/// receiver holds none or cannot use the difference. At most one shipment of each store is under way.
///
/// Its state is in its folder, so that the app may end at any time. One object has the folder.
public actor TransferSender {
    public struct Options: Sendable {
        /// How to make shipments. Without a `memory`, copies of sent stores are kept in the sender's folder, as bases of deltas.
        public var producer = Producer.Options()
        /// How long after a change a copy is taken, so that one copy contains several changes.
        public var settling = Duration.seconds(2)
        /// How long to wait for the delivery of a shipment before one with later changes replaces it.
        public var replacing = Duration.seconds(60)
        /// How long to wait for an answer before asking again; each further wait is twice as long.
        public var retryDelay = Duration.seconds(60)
        /// The longest wait for an answer, and before a retry of what failed.
        public var maximumRetryDelay = Duration.seconds(3600)
        /// Longest application context to set, in bytes.
        package var longestContext = TransferContext.sizeLimit
        /// The clock.
        package var now: @Sendable () -> Date = { Date() }

        public init() {}
    }

    private let stores: [StoreName: FilePath]
    private let session: any TransferSession
    private let folder: SenderFolder
    private nonisolated let options: Options
    private nonisolated let report: @Sendable (SenderEvent) -> Void
    private let state: Mutex<SenderState>
    private nonisolated let alarm = Alarm()
    private var isRunning = false

    /// The stores are live ones, and each goes under the name that its file's name suggests. The folder is for the files of this half, and is
    /// made if it is not there. `report` is called on any thread.
    ///
    /// - Throws: `.sameName`, `.file`.
    public init(
        of stores: [FilePath], over session: some TransferSession, folder: FilePath, options: Options = Options(),
        report: @escaping @Sendable (SenderEvent) -> Void = { _ in }
    ) throws(ShipmentError) {
        var named: [StoreName: FilePath] = [:]
        for store in stores {
            let name = StoreName(suggestedBy: store.lastName)
            guard named.updateValue(store, forKey: name) == nil else { throw .sameName(name) }
        }
        let place = SenderFolder(path: folder)
        try ShipmentError.wrapping { try place.make() }
        var options = options
        options.producer.memory = options.producer.memory ?? BaseMemory(at: place.bases)
        self.stores = named
        self.session = session
        self.folder = place
        self.options = options
        self.report = report
        state = Mutex(SenderState(place.readRecord(), of: named.keys, options, at: options.now()))
    }

    /// Sends changed stores, until the task is cancelled. A second call, while the first one runs, returns at once.
    public func run() async {
        guard !isRunning else { return }
        isRunning = true
        defer { isRunning = false }
        while !Task.isCancelled {
            let next = await step()
            try? await alarm.wait(for: .seconds(max(next.timeIntervalSince(Date()), 0)))
        }
    }

    /// A store may have changed. An app calls this after it has saved a context or ended a transaction, or for a notification of Core
    /// Data's.
    ///
    /// - Parameter name: `nil` for all.
    public nonisolated func storeDidChange(_ name: StoreName? = nil) {
        let time = options.now()
        state.withLock { state in
            for changed in name.map({ [$0] }) ?? Array(stores.keys) where stores[changed] != nil {
                state.change(changed, at: time)
            }
        }
        alarm.ring()
    }

    // MARK: Work

    /// Does all work that can be done now.
    ///
    /// - Returns: When to run the next step, if no event comes before.
    package func step() async -> Date {
        var next = Date.distantFuture
        guard session.isReady else { return next }
        ask(&next)
        for name in stores.keys.sorted() {
            let outstanding = outstandingTokens()
            let time = options.now()
            switch change({ $0.step(for: name, outstanding, at: time) }) {
            case .wait: break
            case .waitUntil(let time): next = min(next, time)
            case .make(let order):
                if let time = await make(name, order) { next = min(next, time) }
            }
            // The session may have changed meanwhile.
            if Task.isCancelled || !session.isReady { return next }
        }
        // The steps may have opened a question.
        ask(&next)
        tidy()
        return next
    }

    /// Asks the receiver what it holds, if a question is due.
    private func ask(_ next: inout Date) {
        let time = options.now()
        let queued = session.outstandingUserInfoTransfers.lazy.compactMap { entries -> TransferMessage.Token? in
            if case .ask(let token) = try? TransferMessage(entries) { token } else { nil }
        }.last
        let (token, until) = change { $0.ask(queued, at: time) }
        if let token {
            session.transferUserInfo(TransferMessage.ask(token).entries)
            report(.asked)
        }
        if let until { next = min(next, until) }
    }

    /// Makes a shipment, and hands it to the session.
    ///
    /// - Returns: When to run the next step.
    private func make(_ name: StoreName, _ order: SenderState.Order) async -> Date? {
        guard let store = stores[name] else { return nil }
        let token = TransferMessage.Token()
        let file = folder.shipment(token)
        change { $0.begin(name) }
        do throws(ShipmentError) {
            let deliveries = try await Producer(store, options: options.producer(for: name, order)).send(to: file)
            guard let delivery = deliveries.first else { return nil }
            // The session may have changed meanwhile.
            guard session.isReady else { throw .stopped }
            handOver(name, token, delivery, order)
            // An answer may have come meanwhile that asks for another step.
            return options.now()
        } catch {
            let time = options.now()
            guard error != .stopped else {
                change { $0.stop(name, at: time) }
                return nil
            }
            let again = change { $0.fail(name, at: time) }
            report(.failed(name, error, again: again))
            return again
        }
    }

    private func handOver(
        _ name: StoreName, _ token: TransferMessage.Token, _ delivery: Delivery, _ order: SenderState.Order
    ) {
        let outstanding = outstandingTokens()
        let (time, content) = (options.now(), ManifestContent(of: delivery.manifest).id)
        // The record is written first: `cancelUnknown` cancels a transfer that is not in the record.
        switch change({ $0.made(name, token, content, by: order, outstanding, at: time) }) {
        case .send:
            cancelUnknown()
            let message = TransferMessage.store(token, name: name, over: order.over).entries
            if order.over == nil || !setInContext(message, folder.shipment(token)) {
                session.transferFile(folder.shipment(token), metadata: message)
            }
            report(.began(name, delivery))
        case .upToDate: report(.upToDate(name))
        case .drop: break
        }
    }

    // MARK: The session's queue

    /// The shipments that may still arrive. A context that its receiver has not told of, although it has told what it holds since, may be lost.
    private func outstandingTokens() -> Set<TransferMessage.Token> {
        let files = session.outstandingFileTransfers.compactMap { Self.token(of: $0) }
        let carried = Set(TransferContext(decoding: session.context).shipments.compactMap(\.token))
        let waiting = state.withLock { state in
            state.record.stores.values.compactMap { $0.underWay.flatMap { $0.isSettled ? nil : $0.token } }
        }
        return carried.intersection(waiting).union(files)
    }

    /// Adds a shipment to the application context.
    ///
    /// - Returns: Whether that takes it.
    private func setInContext(_ message: [String: String], _ file: FilePath) -> Bool {
        guard let file = try? OpenFile.readingWithoutFollowing(file), let size = try? file.size,
            size <= options.longestContext, let bytes = try? file.read(Int(size), at: 0)
        else { return false }
        var context = TransferContext(decoding: session.context)
        context.shipments.append(TransferContext.Carried(message: message, shipment: Data(bytes)))
        guard let encoded = try? context.encoded(), encoded.count <= options.longestContext else { return false }
        return (try? session.setContext(encoded)) != nil
    }

    private nonisolated static func token(of metadata: [String: Any]) -> TransferMessage.Token? {
        if case .store(let token, _, _) = try? TransferMessage(metadata) { token } else { nil }
    }

    /// Cancels the transfers of replaced shipments, and removes their files.
    private func tidy() {
        cancelUnknown()
        let underWay = tokensUnderWay()
        folder.outgoing.removeTransfers { underWay.contains($0) }
    }

    private func cancelUnknown() {
        let known = tokensUnderWay()
        session.cancelFileTransfers { Self.token(of: $0).map { !known.contains($0) } ?? false }
        var context = TransferContext(decoding: session.context)
        let count = context.shipments.count
        context.shipments.removeAll { $0.token.map { !known.contains($0) } ?? true }
        // One that stays too long costs nothing but its answer.
        if context.shipments.count < count { try? session.setContext(context.encoded()) }
    }

    private func tokensUnderWay() -> Set<TransferMessage.Token> {
        state.withLock { Set($0.record.stores.values.compactMap(\.underWay?.token)) }
    }

    /// Changes the state, and writes the record if it has changed.
    private nonisolated func change<Result: Sendable>(_ body: (inout SenderState) -> Result) -> Result {
        let (result, failure) = state.withLock { state -> (Result, FileError?) in
            let before = state.record
            let result = body(&state)
            guard state.record != before else { return (result, nil) }
            do throws(FileError) {
                try folder.write(state.record)
            } catch {
                return (result, error)
            }
            return (result, nil)
        }
        if let failure { report(.cannotRemember(failure)) }
        return result
    }
}

extension TransferSender: TransferSessionDelegate {
    public nonisolated func session(didReceiveUserInfo userInfo: [String: Any]) -> Bool {
        receive(userInfo) { () throws(TransferMessageError) in nil }
    }

    public nonisolated func session(didReceiveFile file: FilePath, metadata: [String: Any]) -> Bool {
        receive(metadata) { () throws(TransferMessageError) in
            try TransferMessageError.wrapping { () throws(FileError) in
                try OpenFile.readingWithoutFollowing(file).read(Limits.messageSize + 1, at: 0)
            }
        }
    }

    public nonisolated func session(didFinishFile metadata: [String: Any], failure: (any Error)?) {
        if let failure, let token = Self.token(of: metadata) {
            let time = options.now()
            let failed = change { state -> (StoreName, Date)? in
                state.record.fail(token, at: time, state.backoff).map {
                    ($0, state.record.stores[$0]?.notBefore ?? time)
                }
            }
            if let (name, again) = failed {
                report(.undelivered(name, ForeignText(String(describing: failure)), again: again))
            }
        }
        alarm.ring()
    }

    public nonisolated func session(didFinishUserInfo userInfo: [String: Any], failure: (any Error)?) {
        // `step` asks a question again that was not delivered.
    }

    public nonisolated func sessionDidChange() { alarm.ring() }

    public nonisolated func counterpartDidChange() {
        change { $0.record.meetAnotherReceiver() }
        alarm.ring()
    }

    /// - Parameter holdings: Reads the file that came with the message.
    private nonisolated func receive(
        _ entries: [String: Any], holdings: () throws(TransferMessageError) -> [UInt8]?
    ) -> Bool {
        guard TransferMessage.isOurs(entries) else { return false }
        do throws(TransferMessageError) {
            guard case .answer(let answer) = try TransferMessage(entries, holdings: holdings) else {
                throw .notForThisHalf
            }
            let time = options.now()
            let answered = change { state -> (StoreName, SenderRecord.Entry?)? in
                state.record.receive(answer, at: time, state.backoff).map { ($0, state.record.stores[$0]) }
            }
            if let (name, entry) = answered, let outcome = answer.outcome { tell(name, outcome, entry) }
        } catch {
            report(.ignored(error))
        }
        alarm.ring()
        return true
    }

    private nonisolated func tell(_ name: StoreName, _ outcome: TransferMessage.Outcome, _ entry: SenderRecord.Entry?) {
        switch outcome {
        case .installed, .unchanged: report(.arrived(name))
        case .outdated: report(.outdated(name))
        case .refused(let reason): report(.refused(name, reason, again: entry?.refusal?.next))
        }
    }
}

extension TransferSender.Options {
    fileprivate func producer(for name: StoreName, _ order: SenderState.Order) -> Producer.Options {
        var options = producer
        options.name = name
        options.storeKey = options.storeKey ?? name.text
        switch order.form {
        case .delta: options.holdings = order.held
        case .whole: options.holdings = order.held.without(name)
        case .plain:
            options.holdings = order.held.without(name)
            options.encoding = .blocks
        }
        return options
    }
}

/// An event of a sender.
public enum SenderEvent: Sendable {
    /// The receiver was asked what it holds.
    case asked
    /// A shipment was made and handed to the session.
    case began(StoreName, Delivery)
    /// The receiver has installed a shipment, or had its content already.
    case arrived(StoreName)
    /// The receiver holds the newest content already: nothing is sent.
    case upToDate(StoreName)
    /// Another content was current at the receiver than the sender believed: the sender makes another shipment.
    case outdated(StoreName)
    /// The receiver has refused a shipment. The sender sends another form, or the same again at that time, or nothing before the store
    /// changes, or the receiver's app has started anew.
    case refused(StoreName, Reason, again: Date?)
    /// A copy could not be taken, or a shipment not be made. The sender tries again at that time.
    case failed(StoreName, ShipmentError, again: Date)
    /// The session could not deliver a shipment, for that reason. The sender tries again at that time.
    case undelivered(StoreName, ForeignText, again: Date)
    /// A message was not valid.
    case ignored(TransferMessageError)
    /// The record could not be written. The sender goes on, and asks the receiver after the next start of the app.
    case cannotRemember(FileError)
}
