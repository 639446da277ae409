public import EssentialFoundation
public import ShipStore
import Synchronization
public import SystemPackage

/// The watch's half of an exchange of stores over a session that delivers in its own time. It installs shipments in an inbox. It says
/// what the inbox holds when it starts, when it is asked, and after each shipment.
///
/// A shipment fits one state of the inbox, the state that its sender knew. If the state is another one, as for a late or doubled shipment,
/// or after the watch was restored, the receiver does not read the shipment: it says what it holds, and the sender makes another shipment.
///
/// A shipment stays in the receiver's folder until it is installed, so that the app may end at any time. One object has the folder.
public actor TransferReceiver {
    public struct Options: Sendable {
        /// The device that signs the shipments; `nil` for unsigned shipments, or for the device that sent all stores of the inbox.
        public var sender: DeviceIdentifier?
        /// This device, if it has an identity.
        public var device: Device?
        /// How long a generation that the sender was told of stays, as a base of deltas.
        public var holding = Duration.seconds(7 * 24 * 3600)
        /// How long to wait before the first retry; each further retry waits twice as long.
        public var retryDelay = Duration.seconds(60)
        /// The longest wait before a retry.
        public var maximumRetryDelay = Duration.seconds(3600)
        /// Longest dictionary to send, in bytes.
        package var longestUserInfo = TransferMessage.sizeLimit
        /// The clock.
        package var now: @Sendable () -> Date = { Date() }

        public init() {}
    }

    /// A word for the sender that waits.
    private struct Pending {
        /// The last open questions.
        var questions: [TransferMessage.Token] = []
        /// When to announce what the inbox holds.
        var announcement: Date?
        /// Failures since the last success.
        var failures = 0
    }

    /// Most open questions that are remembered: the sender has asked an older one again.
    private static let maximumQuestions = 8

    private let consumer: Consumer
    private let session: any TransferSession
    private let outgoing: FilePath
    private nonisolated let arrived: ArrivedShipments
    private let options: Options
    private let device: Device
    private nonisolated let report: @Sendable (ReceiverEvent) -> Void
    private nonisolated let pending: Mutex<Pending>
    /// The application context whose shipments have all been kept.
    private var keptContext: Data?
    /// The shipments of the latest context that have been kept, or never can be.
    private var keptTokens: Set<TransferMessage.Token?> = []
    private nonisolated let alarm = Alarm()
    private var isRunning = false
    /// `run` and `catchUp` may run at the same time, but not `step`.
    private var isStepping = false
    /// How long to wait before looking again whether the other one has finished its step.
    private static let pause = Duration.milliseconds(50)

    /// The folder is for the files of this half: it is made if it is not there, and is outside of the inbox. `report` is called on any thread.
    ///
    /// - Throws: `.file`.
    public init(
        into consumer: Consumer, over session: some TransferSession, folder: FilePath, options: Options = Options(),
        report: @escaping @Sendable (ReceiverEvent) -> Void = { _ in }
    ) throws(ShipmentError) {
        self.consumer = consumer
        self.session = session
        self.options = options
        self.report = report
        outgoing = folder.appending("outgoing")
        device = options.device ?? Device(folder: folder.appending("device"))
        pending = Mutex(Pending(announcement: options.now()))
        do throws(FileError) {
            try folder.makeTransferFolder()
            try Folder.make(outgoing)
            arrived = try ArrivedShipments(in: folder)
        } catch {
            throw .file(error)
        }
    }

    /// Installs shipments, and answers, until the task is cancelled. A second call, while the first one runs, returns at once.
    public func run() async {
        guard !isRunning else { return }
        isRunning = true
        defer { isRunning = false }
        while !Task.isCancelled {
            let next = await stepAlone() ?? Date().addingTimeInterval(Self.pause / .seconds(1))
            try? await alarm.wait(for: .seconds(max(next.timeIntervalSince(Date()), 0)))
        }
    }

    /// - Returns: `nil` if another step runs.
    private func stepAlone() async -> Date? {
        guard !isStepping else { return nil }
        isStepping = true
        defer { isStepping = false }
        return await step()
    }

    /// Returns once all shipments that have come are installed and answered, or the task is cancelled: for the time that the system
    /// gives an app in the background to receive them.
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

    private nonisolated var backoff: Backoff { Backoff(first: options.retryDelay, longest: options.maximumRetryDelay) }

    private var failures: Int { pending.withLock { $0.failures } }

    private var hasWork: Bool {
        pending.withLock { !$0.questions.isEmpty } || !arrived.isEmpty || session.receivedContext != keptContext
    }

    // MARK: Work

    /// Does all work that can be done now.
    ///
    /// - Returns: When to run the next step, if no event comes before.
    package func step() async -> Date {
        guard session.isReady else { return .distantFuture }
        do throws(ShipmentError) {
            // What has arrived is installed all the same, and makes room.
            var failure: ShipmentError?
            do throws(ShipmentError) { try keepContext() } catch { failure = error }
            let (shipments, unread) = arrived.all()
            for shipment in shipments {
                if let answer = try await answer(to: shipment) { try send(answer) }
                // If the app ends before this, the receiver answers again.
                arrived.remove(shipment.number)
            }
            try answerQuestions()
            try announce()
            removeDeliveredFiles()
            if let failure = failure ?? unread.map(ShipmentError.file) { throw failure }
        } catch {
            guard error != .stopped else { return .distantFuture }
            let again = postpone()
            report(.failed(error, again: again))
            return again
        }
        let time = options.now()
        // There is room now for more of the context.
        if session.receivedContext != keptContext { return time.addingTimeInterval(Self.pause / .seconds(1)) }
        return pending.withLock { $0.announcement }.map { backoff.bounded($0, at: time) } ?? .distantFuture
    }

    /// Keeps the shipments of an application context that has come, as many as there is room for.
    ///
    /// - Throws: If it must be tried again.
    private func keepContext() throws(ShipmentError) {
        let received = session.receivedContext
        guard received != keptContext else { return }
        let shipments = TransferContext(decoding: received).shipments
        // A context takes the place of the one before.
        keptTokens.formIntersection(shipments.map(\.token))
        for carried in shipments where !keptTokens.contains(carried.token) {
            do throws(TransferMessageError) {
                let message = try TransferMessage(carried.message)
                guard case .store = message else { throw .notForThisHalf }
                try arrived.keep(Array(carried.shipment), message.entries)
            } catch .file(let error) {
                throw .file(error)
            } catch .tooMany {
                return
            } catch {
                report(.ignored(error))
            }
            keptTokens.insert(carried.token)
        }
        keptContext = received
    }

    /// Installs a shipment, if it fits the state of the inbox.
    ///
    /// - Returns: `nil` if the metadata are no message of a sender.
    /// - Throws: If it must be tried again.
    private func answer(to shipment: ArrivedShipments.Arrived) async throws(ShipmentError) -> TransferMessage.Answer? {
        guard case .store(let token, let name, let over)? = try? TransferMessage(shipment.metadata) else { return nil }
        let outcome: TransferMessage.Outcome
        if try holdings()[name]?.manifest != over {
            report(.outdated(name))
            outcome = .outdated
        } else {
            outcome = try await install(shipment, name)
        }
        return TransferMessage.Answer(token: token, outcome: outcome, holdings: try holdings())
    }

    private func install(
        _ shipment: ArrivedShipments.Arrived, _ name: StoreName
    ) async throws(ShipmentError) -> TransferMessage.Outcome {
        guard shipment.attempts < ArrivedShipments.maximumAttempts else {
            return .refused(
                Reason(.cannotInstall, message: "the app ended or was stopped each time that it was taken in"))
        }
        try ShipmentError.wrapping { try arrived.attempt(shipment) }
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
                // The store may be sound: the app may have been suspended, or busy with other work.
                return .refused(Reason(.cannotInstall, message: reason.message.unescaped))
            default: return .refused(reason)
            }
        }
    }

    /// The inbox's holdings, which from now on stay for `options.holding`.
    private func holdings() throws(ShipmentError) -> HoldingsFile {
        try HoldingsFile.make(of: consumer.inbox, for: sender, by: device, holding: options.holding)
    }

    /// The sender that the app names, or else the one device that has sent all stores of the inbox.
    private var sender: DeviceIdentifier? {
        if let sender = options.sender { return sender }
        let producers = ((try? consumer.inbox.storeNames()) ?? []).compactMap {
            (try? consumer.inbox.open().originRecord(of: $0))?.producer
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

    /// Says what the inbox holds, without a question: the sender does not know that the watch was restored.
    private func announce() throws(ShipmentError) {
        let time = options.now()
        guard let due = pending.withLock({ $0.announcement }), backoff.bounded(due, at: time) <= time else { return }
        let queued = session.outstandingUserInfoTransfers + session.outstandingFileTransfers
        if !queued.contains(where: TransferMessage.isAnnouncement) {
            try send(TransferMessage.Answer(token: nil, outcome: nil, holdings: try holdings()))
        }
        pending.withLock { $0.announcement = nil }
    }

    /// Sends a dictionary; if the holdings are too long for it, they go as a file.
    private func send(_ answer: TransferMessage.Answer) throws(ShipmentError) {
        // The session may have changed during the work before this.
        guard session.isReady else { throw .stopped }
        var entries = TransferMessage.answer(answer).entries
        guard TransferMessage.size(of: entries) > options.longestUserInfo else {
            return session.transferUserInfo(entries)
        }
        entries[TransferMessage.holdingsKey] = nil
        let file = outgoing.appending(TransferMessage.Token().text)
        entries[TransferMessage.fileKey] = file.lastComponent?.text
        try ShipmentError.wrapping { try OpenFile.creating(file).write(answer.holdings.jsonBytes) }
        session.transferFile(file, metadata: entries)
    }

    /// Removes the files of answers whose transfers are over.
    private func removeDeliveredFiles() {
        let queued = Set(session.outstandingFileTransfers.compactMap { $0[TransferMessage.fileKey] })
        outgoing.removeTransfers { queued.contains($0.text) }
    }

    /// Counts a failure.
    ///
    /// - Returns: When to try again.
    private nonisolated func postpone() -> Date {
        let time = options.now()
        return pending.withLock { pending in
            pending.failures += 1
            return backoff.time(after: pending.failures, from: time)
        }
    }
}

extension TransferReceiver: TransferSessionDelegate {
    public nonisolated func session(didReceiveUserInfo userInfo: [String: Any]) -> Bool {
        guard TransferMessage.isOurs(userInfo) else { return false }
        do throws(TransferMessageError) {
            guard case .ask(let token) = try TransferMessage(userInfo) else { throw .notForThisHalf }
            pending.withLock { pending in
                pending.questions.removeAll { $0 == token }
                pending.questions = pending.questions.suffix(Self.maximumQuestions - 1) + [token]
            }
        } catch {
            report(.ignored(error))
        }
        alarm.ring()
        return true
    }

    public nonisolated func session(didReceiveFile file: FilePath, metadata: [String: Any]) -> Bool {
        guard TransferMessage.isOurs(metadata) else { return false }
        do throws(TransferMessageError) {
            let message = try TransferMessage(metadata)
            guard case .store = message else { throw .notForThisHalf }
            try arrived.keep(file, message.entries)
        } catch {
            report(.ignored(error))
        }
        alarm.ring()
        return true
    }

    public nonisolated func session(didFinishFile metadata: [String: Any], failure: (any Error)?) {
        finished(metadata, failure)
    }

    public nonisolated func session(didFinishUserInfo userInfo: [String: Any], failure: (any Error)?) {
        finished(userInfo, failure)
    }

    public nonisolated func sessionDidChange() { alarm.ring() }

    public nonisolated func counterpartDidChange() {
        let time = options.now()
        pending.withLock { $0.announcement = time }
        alarm.ring()
    }

    /// A transfer is over.
    private nonisolated func finished(_ entries: [String: Any], _ failure: (any Error)?) {
        guard TransferMessage.isOurs(entries) else { return }
        if failure == nil {
            pending.withLock { $0.failures = 0 }
        } else {
            // The sender asks again later; an announcement may be sooner.
            let again = postpone()
            pending.withLock { $0.announcement = min($0.announcement ?? again, again) }
        }
        alarm.ring()
    }
}

/// An event of a receiver.
public enum ReceiverEvent: Sendable {
    /// A shipment is installed, durable and current, or was already.
    case installed(Receipt)
    /// A shipment came that fits another state of the inbox, as one that came late or twice: the sender was told what the inbox holds.
    case outdated(StoreName)
    /// A shipment was refused; the sender was told.
    case refused(StoreName, ShipmentError)
    /// An answer could not be made or sent, or a shipment not be installed now. It is tried again at that time.
    case failed(ShipmentError, again: Date)
    /// A message was not valid, or a shipment could not be kept.
    case ignored(TransferMessageError)
}
