public import EssentialFoundation
public import ShipStore
import Synchronization
public import SystemPackage

/// The watch's half of an exchange of stores over a session that delivers in its own time: it takes shipments into an inbox, and says
/// what the inbox holds whenever it is asked, a shipment came, or it begins.
///
/// A shipment is for the state of the inbox that its sender knew. One that finds another state, as a late or doubled one, or one for
/// a watch that was restored since, is not looked at: the sender hears what is held, and sends what fits.
///
/// What came is in its folder until it is taken in, so that the app may end at any time. One object has the folder.
public actor TransferReceiver {
    public struct Options: Sendable {
        /// The device that signs the shipments; `nil` for that of which all is that the inbox holds, or where they are not signed.
        public var sender: DeviceIdentifier?
        /// This device, if it has an identity.
        public var device: Device?
        /// For how long what the sender was told stays, to be built on.
        public var holding = Duration.seconds(7 * 24 * 3600)
        /// How long to wait before what failed is tried once more, and twice as long each time.
        public var patience = Duration.seconds(60)
        /// The longest such wait.
        public var longestPatience = Duration.seconds(3600)
        /// Longest dictionary that is sent, in bytes.
        package var longestUserInfo = TransferMessage.sizeLimit

        public init() {}
    }

    /// What the sender is to be told.
    struct Pending {
        /// Questions that are not answered yet, the last ones.
        var questions: [TransferMessage.Token] = []
        /// When to say unasked what is held.
        var announcement: Date?
        /// How often something could not be said, or done, since something was.
        var failures = 0
    }

    /// Questions that are remembered: an older one has been asked again.
    static let mostQuestions = 8

    private let consumer: Consumer
    private let session: any TransferSession
    private let outgoing: FilePath
    nonisolated let arrived: ArrivedShipments
    private let options: Options
    private let device: Device
    nonisolated let report: @Sendable (ReceiverEvent) -> Void
    let now: @Sendable () -> Date
    nonisolated let pending: Mutex<Pending>
    nonisolated let alarm = Alarm()
    private var isRunning = false
    /// `run` and `catchUp` may be at work at the same time.
    private var isStepping = false
    /// Between two looks at what somebody else is at.
    private static let pause = Duration.milliseconds(50)

    /// - Parameters:
    ///   - consumer: Takes shipments into its inbox.
    ///   - session: What carries shipments and messages.
    ///   - folder: For what this half keeps; made if it is not there. It is not in the inbox.
    ///   - options: From whom, and when.
    ///   - report: Called on whatever thread there is.
    /// - Throws: `.file`.
    public init(
        into consumer: Consumer, over session: some TransferSession, folder: FilePath, options: Options = Options(),
        report: @escaping @Sendable (ReceiverEvent) -> Void = { _ in }
    ) throws(ShipmentError) {
        try self.init(into: consumer, over: session, folder: folder, options: options, now: Date.init, report: report)
    }

    /// - Parameter now: The clock.
    package init(
        into consumer: Consumer, over session: some TransferSession, folder: FilePath, options: Options,
        now: @escaping @Sendable () -> Date, report: @escaping @Sendable (ReceiverEvent) -> Void
    ) throws(ShipmentError) {
        self.consumer = consumer
        self.session = session
        self.options = options
        self.report = report
        self.now = now
        outgoing = folder.appending("outgoing")
        device = options.device ?? Device(folder: folder.appending("device"))
        pending = Mutex(Pending(announcement: now()))
        do throws(FileError) {
            try TransferFolder.make(folder)
            try Folder.make(outgoing)
            arrived = try ArrivedShipments(in: folder)
        } catch {
            throw .file(error)
        }
    }

    /// Takes in what comes, and answers, until the task is cancelled. A second call, while the first one runs, returns at once.
    public func run() async {
        guard !isRunning else { return }
        isRunning = true
        defer { isRunning = false }
        while !Task.isCancelled {
            let next = await stepAlone() ?? Date().addingTimeInterval(Self.pause / .seconds(1))
            do {
                try await alarm.wait(until: next)
            } catch {
                return
            }
        }
    }

    /// - Returns: `nil` if `run` or `catchUp` is at it.
    private func stepAlone() async -> Date? {
        guard !isStepping else { return nil }
        isStepping = true
        defer { isStepping = false }
        return await step()
    }

    /// Returns once all that has come is taken in and answered, or the task is cancelled: for the time that the system gives an app
    /// in the background to receive what has come.
    public func catchUp() async {
        while !Task.isCancelled, session.hasContentPending || hasWork {
            if session.isReady, !session.hasContentPending {
                let failures = self.failures
                _ = await stepAlone()
                if self.failures > failures { return }
            }
            if session.hasContentPending || hasWork { try? await Task.sleep(for: Self.pause) }
        }
    }

    private nonisolated var backoff: Backoff { Backoff(first: options.patience, longest: options.longestPatience) }

    private var failures: Int { pending.withLock { $0.failures } }

    private var hasWork: Bool { pending.withLock { !$0.questions.isEmpty } || !arrived.isEmpty }

    // MARK: Work

    /// Does what can be done now.
    ///
    /// - Returns: When to look again, if nobody rings before.
    package func step() async -> Date {
        guard session.isReady else { return .distantFuture }
        do {
            for shipment in arrived.all() {
                if let answer = try await take(shipment) { try send(answer) }
                // Whoever is killed before this answers once more.
                arrived.remove(shipment)
            }
            try answerQuestions()
            try announce()
            removeDeliveredFiles()
        } catch {
            guard error != .stopped else { return .distantFuture }
            let again = postpone()
            report(.failed(error, again: again))
            return again
        }
        let time = now()
        return pending.withLock { $0.announcement }.map { backoff.bounded($0, at: time) } ?? .distantFuture
    }

    /// Takes in a shipment, if it is for what the inbox holds.
    ///
    /// - Returns: `nil` for what nobody waits for.
    /// - Throws: If it is to be tried again.
    private func take(_ shipment: ArrivedShipments.Arrived) async throws(ShipmentError) -> TransferMessage.Answer? {
        guard case .store(let offer)? = try? TransferMessage(shipment.metadata) else { return nil }
        let outcome: TransferMessage.Outcome
        if try holdings()[offer.name]?.manifest != offer.over {
            report(.outdated(offer.name))
            outcome = .outdated
        } else {
            outcome = try await install(shipment, offer.name)
        }
        return TransferMessage.Answer(token: offer.token, outcome: outcome, holdings: try holdings())
    }

    private func install(
        _ shipment: ArrivedShipments.Arrived, _ name: StoreName
    ) async throws(ShipmentError) -> TransferMessage.Outcome {
        guard shipment.attempts < ArrivedShipments.mostAttempts else {
            return .refused(Reason(.cannotInstall, message: "the app ended each time that it was taken in"))
        }
        do throws(FileError) {
            try arrived.attempt(shipment)
        } catch {
            throw .file(error)
        }
        do throws(ShipmentError) {
            let receipts = try await consumer.receive(from: shipment.file)
            receipts.forEach { report(.installed($0)) }
            return receipts.contains { $0.outcome == .installed } ? .installed : .unchanged
        } catch {
            if error == .stopped || Task.isCancelled {
                arrived.withdrawAttempt(shipment)
                throw .stopped
            }
            report(.refused(name, error))
            let reason = error.refusal ?? Reason(.cannotInstall, message: "")
            switch error {
            case .badStore(.tookTooLong), .badStore(.tookTooMuchMemory):
                // In an app it is not the store's fault alone: the app may have been suspended, and does other work.
                return .refused(Reason(.cannotInstall, message: reason.message.unescaped))
            default: return .refused(reason)
            }
        }
    }

    /// What is held, and now stays for a while.
    private func holdings() throws(ShipmentError) -> HoldingsFile {
        try HoldingsExport.make(of: consumer.inbox, for: sender, by: device, holding: options.holding)
    }

    /// Who has sent what the inbox holds, where the app does not say it, and all of it is of one.
    private var sender: DeviceIdentifier? {
        if let sender = options.sender { return sender }
        let producers = ((try? consumer.inbox.storeNames()) ?? []).compactMap {
            (try? consumer.inbox.originRecord(of: $0))?.producer
        }
        guard let first = producers.first, producers.allSatisfy({ $0 == first }) else { return nil }
        return DeviceIdentifier(bytes: first.bytes)
    }

    private func answerQuestions() throws(ShipmentError) {
        while let token = pending.withLock({ $0.questions.first }) {
            try send(TransferMessage.Answer(token: token, outcome: nil, holdings: try holdings()))
            pending.withLock { $0.questions.removeAll { $0 == token } }
        }
    }

    /// Says what is held, unasked: the sender of a watch that was restored does not know that.
    private func announce() throws(ShipmentError) {
        let time = now()
        guard let due = pending.withLock({ $0.announcement }), backoff.bounded(due, at: time) <= time else { return }
        let queued = session.outstandingUserInfoTransfers + session.outstandingFileTransfers
        if !queued.contains(where: TransferMessage.isUnasked) {
            try send(TransferMessage.Answer(token: nil, outcome: nil, holdings: try holdings()))
        }
        pending.withLock { $0.announcement = nil }
    }

    /// As a dictionary, or where it is too long for one as a file.
    private func send(_ answer: TransferMessage.Answer) throws(ShipmentError) {
        // What came before may have taken a while.
        guard session.isReady else { throw .stopped }
        var entries = TransferMessage.answer(answer).entries
        guard TransferMessage.size(of: entries) > options.longestUserInfo else {
            return session.transferUserInfo(entries)
        }
        entries[TransferMessage.Key.holdings] = nil
        let file = outgoing.appending(TransferMessage.Token().text)
        entries[TransferMessage.Key.file] = file.lastComponent?.string
        do throws(FileError) {
            try OpenFile.creating(file).write(answer.holdings.encoded)
        } catch {
            throw .file(error)
        }
        session.transferFile(file, metadata: entries)
    }

    /// Removes the files of answers that the session has no more.
    private func removeDeliveredFiles() {
        let queued = Set(session.outstandingFileTransfers.compactMap { $0[TransferMessage.Key.file] })
        outgoing.removeTransfers { queued.contains($0.text) }
    }

    /// - Returns: When what failed is tried again.
    nonisolated func postpone() -> Date {
        let time = now()
        return pending.withLock { pending in
            pending.failures += 1
            return backoff.time(after: pending.failures, from: time)
        }
    }
}

/// What happens at the side that receives, as it happens.
public enum ReceiverEvent: Sendable {
    /// A shipment is installed, durable and current, or was so already.
    case installed(Receipt)
    /// A shipment came that was for another state of the inbox, as one that came late or twice: the sender was told what is held.
    case outdated(StoreName)
    /// A shipment was not let in; the sender was told.
    case refused(StoreName, ShipmentError)
    /// What is held could not be said, or not be put into a file. It is tried again at that time.
    case failed(ShipmentError, again: Date)
    /// What came was no message of the other half's, or could not be kept.
    case ignored(TransferMessageError)
}
