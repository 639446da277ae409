public import EssentialFoundation
public import ShipStore
import Synchronization
public import SystemPackage

/// The phone's half of an exchange of stores over a session that delivers in its own time, such as WatchConnectivity's: it sees to
/// it that the watch gets what its stores are, in few bytes, whatever gets lost, comes late or twice, or begins anew.
///
///     TransferSender  -- ask -->                TransferReceiver
///                     <-- answer, holdings --
///                     -- store, a shipment -->
///                     <-- answer, holdings --
///
/// It sends what differs from what the receiver has said that it holds, nothing where that is the newest, and a whole store where it
/// holds nothing or cannot use the difference. Of each store one shipment is under way at a time.
///
/// What it knows is in its folder, so that the app may end at any time. One object has the folder.
public actor TransferSender {
    public struct Options: Sendable {
        /// How shipments are made. Without a `memory` copies are kept in the sender's folder, to build on.
        public var producer = Producer.Options()
        /// How long changes are gathered before a copy is taken.
        public var settling = Duration.seconds(2)
        /// How long a shipment that is not delivered is left alone before one with later changes takes its place.
        public var replacing = Duration.seconds(60)
        /// How long to wait for an answer, before asking once more, and twice as long each time.
        public var patience = Duration.seconds(60)
        /// The longest such wait, and the longest between attempts at what fails.
        public var longestPatience = Duration.seconds(3600)

        public init() {}
    }

    private let stores: [StoreName: FilePath]
    private let session: any TransferSession
    private let folder: SenderFolder
    private let options: Options
    nonisolated let report: @Sendable (SenderEvent) -> Void
    nonisolated let now: @Sendable () -> Date
    private let state: Mutex<SenderState>
    nonisolated let alarm = Alarm()
    private var isRunning = false

    /// - Parameters:
    ///   - stores: The live stores that the receiver is to have, each under the name that its file's name suggests.
    ///   - session: What carries shipments and messages.
    ///   - folder: For what this half keeps; made if it is not there.
    ///   - options: How, and when.
    ///   - report: Called on whatever thread there is.
    /// - Throws: `.sameName`, `.file`.
    public init(
        of stores: [FilePath], over session: some TransferSession, folder: FilePath, options: Options = Options(),
        report: @escaping @Sendable (SenderEvent) -> Void = { _ in }
    ) throws(ShipmentError) {
        try self.init(of: stores, over: session, folder: folder, options: options, now: Date.init, report: report)
    }

    /// - Parameter now: The clock.
    package init(
        of stores: [FilePath], over session: some TransferSession, folder: FilePath, options: Options,
        now: @escaping @Sendable () -> Date, report: @escaping @Sendable (SenderEvent) -> Void
    ) throws(ShipmentError) {
        var named: [StoreName: FilePath] = [:]
        for store in stores {
            let name = StoreName(suggestedBy: store.lastComponent?.string ?? "")
            guard named.updateValue(store, forKey: name) == nil else { throw .sameName(name) }
        }
        let place = SenderFolder(path: folder)
        do throws(FileError) {
            try place.make()
        } catch {
            throw .file(error)
        }
        var options = options
        options.producer.memory = options.producer.memory ?? BaseMemory(at: place.bases)
        self.stores = named
        self.session = session
        self.folder = place
        self.options = options
        self.report = report
        self.now = now
        state = Mutex(SenderState(place.readRecord(), of: named.keys, options, at: now()))
    }

    /// Sends what there is to send, until the task is cancelled. A second call, while the first one runs, returns at once.
    public func run() async {
        guard !isRunning else { return }
        isRunning = true
        defer { isRunning = false }
        while !Task.isCancelled {
            let next = await step()
            do {
                try await alarm.wait(until: next)
            } catch {
                return
            }
        }
    }

    /// A store may have changed: what a saved context, a transaction or a notification of Core Data's tells an app.
    ///
    /// - Parameter name: `nil` for all.
    public nonisolated func storeDidChange(_ name: StoreName? = nil) {
        let time = now()
        state.withLock { state in
            for changed in name.map({ [$0] }) ?? Array(stores.keys) where stores[changed] != nil {
                state.change(changed, at: time)
            }
        }
        alarm.ring()
    }

    // MARK: Work

    /// Does what can be done now.
    ///
    /// - Returns: When to look again, if nobody rings before.
    package func step() async -> Date {
        var next = Date.distantFuture
        guard session.isReady else { return next }
        ask(&next)
        for name in stores.keys.sorted() {
            let outstanding = outstandingTokens()
            let time = now()
            switch change({ $0.step(for: name, outstanding, at: time) }) {
            case .wait: break
            case .waitUntil(let time): next = min(next, time)
            case .make(let order):
                if let time = await make(name, order) { next = min(next, time) }
            }
            if Task.isCancelled { return next }
        }
        // A doubt is a question.
        ask(&next)
        tidy()
        return next
    }

    /// Asks the receiver what it holds, if that is to be asked.
    private func ask(_ next: inout Date) {
        let time = now()
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

    /// Makes a shipment, and hands it over.
    ///
    /// - Returns: When to look again.
    private func make(_ name: StoreName, _ order: SenderState.Order) async -> Date? {
        guard let store = stores[name] else { return nil }
        let token = TransferMessage.Token()
        let file = folder.shipment(token)
        change { $0.begin(name) }
        do throws(ShipmentError) {
            let deliveries = try await Producer(store, options: options.producer(for: name, order)).send(to: file)
            guard let delivery = deliveries.first else { return nil }
            // It took a while.
            guard session.isReady else { throw .stopped }
            handOver(name, token, delivery, order)
            // What was made may have been overtaken by what was said meanwhile.
            return now()
        } catch {
            let time = now()
            guard error != .stopped else {
                change { $0.giveUp(name, at: time) }
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
        let (time, content) = (now(), ManifestContent(of: delivery.manifest).id)
        // Written down before it is handed over: a shipment of which nothing is known would be taken back.
        switch change({ $0.made(name, token, content, by: order, outstanding, at: time) }) {
        case .goes:
            takeBackUnknown()
            let offer = TransferMessage.Offer(token: token, name: name, over: order.over)
            session.transferFile(folder.shipment(token), metadata: TransferMessage.store(offer).entries)
            report(.began(name, delivery))
        case .isThere: report(.upToDate(name))
        case .dropped: break
        }
    }

    // MARK: The session's queue

    private func outstandingTokens() -> Set<TransferMessage.Token> {
        Set(session.outstandingFileTransfers.compactMap { Self.token(of: $0) })
    }

    nonisolated static func token(of metadata: [String: Any]) -> TransferMessage.Token? {
        if case .store(let offer) = try? TransferMessage(metadata) { offer.token } else { nil }
    }

    /// Takes shipments back that another one has taken the place of, and removes what is not needed any more.
    private func tidy() {
        takeBackUnknown()
        folder.removeShipments(besides: tokensUnderWay())
    }

    private func takeBackUnknown() {
        let known = tokensUnderWay()
        session.cancelFileTransfers { Self.token(of: $0).map { !known.contains($0) } ?? false }
    }

    private func tokensUnderWay() -> Set<TransferMessage.Token> {
        state.withLock { Set($0.record.stores.values.compactMap(\.underWay?.token)) }
    }

    /// Changes what is known, and writes it down if it is another.
    nonisolated func change<Result: Sendable>(_ body: (inout SenderState) -> Result) -> Result {
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

extension TransferSender.Options {
    /// How a shipment is made, whose receiver holds that.
    fileprivate func producer(for name: StoreName, _ order: SenderState.Order) -> Producer.Options {
        var options = producer
        options.name = name
        switch order.manner {
        case .delta: options.holdings = order.held
        case .whole: options.holdings = order.held.without(name)
        case .plain:
            options.holdings = order.held.without(name)
            options.encoding = .blocks
        }
        return options
    }
}

/// What happens at the side that sends, as it happens.
public enum SenderEvent: Sendable {
    /// The receiver was asked what it holds.
    case asked
    /// A shipment was made and handed to the session.
    case began(StoreName, Delivery)
    /// The receiver has installed what was sent, or had it already.
    case arrived(StoreName)
    /// The receiver holds the newest content already: nothing is sent.
    case upToDate(StoreName)
    /// Something else was current at the receiver than was thought: another shipment is made.
    case outdated(StoreName)
    /// The receiver has refused a shipment. It is sent in another form, or the same again at that time, or not before the store
    /// changes.
    case refused(StoreName, Reason, again: Date?)
    /// A copy could not be taken, or a shipment not be made. It is tried again at that time.
    case failed(StoreName, ShipmentError, again: Date)
    /// The session could not deliver a shipment, for that reason. It is tried again at that time.
    case undelivered(StoreName, ForeignText, again: Date)
    /// What came was no message of the other half's.
    case ignored(TransferMessageError)
    /// What this half knows could not be written down; it goes on, and asks after the next start of the app.
    case cannotRemember(FileError)
}
