import EssentialFoundation
import ShipStore

/// The persistent state of a sender: what its receiver holds, by its last answer, and which shipments are under way.
///
/// Messages may come in any order. So the sender believes an answer completely only if it answers the newest question, or the shipment
/// that is under way. Any other answer that contradicts the record leads to a new question.
///
/// The record is stored as JSON: names of properties and raw values are part of the file.
struct SenderRecord: Hashable, Sendable, Codable {
    /// Most attempts to send the same content to a receiver that refuses it for a temporary reason.
    static let maximumAttempts = 8
    /// The highest number that is read of what is counted.
    private static let highestCount = 1 << 30

    /// The receiver's holdings; `nil` before its first answer.
    var held: HoldingsFile?
    var question: Question?
    /// By name; a store without a shipment, a refusal or a failure has none.
    var stores: [StoreName: Entry] = [:]
    /// Of its form on the disk.
    var version = 1

    /// Whether a sender may have written it: it is of this version, and each number is one that a sender counts to.
    var isSound: Bool {
        guard version == SenderRecord().version, held == held.flatMap({ try? HoldingsFile(decoding: $0.jsonBytes) })
        else { return false }
        let refusals = stores.values.compactMap { $0.refusal?.attempts }
        return ([question?.attempts ?? 0] + stores.values.map(\.failures) + refusals)
            .allSatisfy((0...Self.highestCount).contains)
    }

    struct Question: Hashable, Sendable, Codable {
        var token = TransferMessage.Token()
        /// How often it was asked.
        var attempts = 0
        /// When to ask it again; `nil` for at once.
        var next: Date?
    }

    struct Entry: Hashable, Sendable, Codable {
        var underWay: Transfer?
        /// The last refusal.
        var refusal: Refusal?
        /// The form of the next shipment.
        var manner = Form.delta
        /// Failures since a shipment was installed.
        var failures = 0
        /// When the next shipment may go; `nil` for at once.
        var notBefore: Date?
    }

    /// A shipment that was handed to the session.
    struct Transfer: Hashable, Sendable, Codable {
        let token: TransferMessage.Token
        let content: ManifestContent.ID
        let over: ManifestContent.ID?
        let began: Date
        /// When to ask for its outcome, once the session has finished its transfer; `nil` before.
        var patience: Date?
        /// Whether the receiver has said what it holds since: if the session has finished the transfer, it has arrived or is lost.
        var isSettled = false
    }

    struct Refusal: Hashable, Sendable, Codable {
        let content: ManifestContent.ID
        /// How often this content was refused.
        let attempts: Int
        let code: ForeignText
        let message: ForeignText
        /// When to send the same content again; `nil` for not before the receiver has started anew.
        var next: Date?
    }

    /// The form of a shipment. The next form is for a receiver that could not read the one before.
    enum Form: String, Sendable, Codable {
        /// The difference from what the receiver holds.
        case delta
        /// A complete store.
        case whole
        /// A complete store, as blocks.
        case plain

        var next: Form? {
            switch self {
            case .delta: .whole
            case .whole: .plain
            case .plain: nil
            }
        }
    }

    /// The content that is current at the receiver, if this sender sent it.
    func current(_ name: StoreName) -> ManifestContent.ID? { held?[name]?.manifest }

    // MARK: Answers

    /// - Parameter backoff: For a shipment that the receiver may accept later.
    /// - Returns: The store whose shipment is under way, if this answers it.
    mutating func receive(_ answer: TransferMessage.Answer, at now: Date, _ backoff: Backoff) -> StoreName? {
        if answer.token == nil { retryRefused(at: now, backoff) }
        if let token = answer.token, let name = stores.first(where: { $0.value.underWay?.token == token })?.key {
            if let outcome = answer.outcome {
                end(name, outcome, holding: answer.holdings[name]?.manifest, now, backoff)
            }
            if question == nil, held != nil {
                held = held?.replacing(name, from: answer.holdings)
                if held?.holds != answer.holdings.holds { askAgain() }
            } else {
                askAgain()
            }
            return name
        }
        if let question, answer.token == question.token {
            held = answer.holdings
            self.question = nil
            for name in stores.keys { stores[name]?.underWay?.isSettled = true }
        } else if question != nil {
            // A receiver announces itself when it starts, perhaps with fewer stores than before. Any other answer is late.
            if answer.token == nil { askAgain() }
        } else if held?.holds != answer.holdings.holds {
            askAgain()
        } else if answer.token == nil, stores.values.contains(where: { $0.underWay != nil }) {
            askAgain()
        }
        return nil
    }

    /// The receiver has started anew, perhaps as a version of its app that takes what the one before has refused. Each content is tried once
    /// more, after a wait that grows with its refusals: an app may start often.
    private mutating func retryRefused(at now: Date, _ backoff: Backoff) {
        for (name, entry) in stores {
            guard let refusal = entry.refusal, refusal.next == nil else { continue }
            stores[name]?.refusal?.next = backoff.time(after: refusal.attempts, from: now)
        }
    }

    /// Opens a new question. Until its answer, the record may be wrong.
    mutating func askAgain() { question = Question() }

    /// Asks another device what it holds: what the one before has refused, or did not get, says nothing of it.
    mutating func meetAnotherReceiver() {
        stores = stores.mapValues { Entry(underWay: $0.underWay) }
        askAgain()
    }

    /// - Parameter held: What the receiver holds by its own word. If that contradicts the outcome, doing the same again at once would
    ///   not help.
    private mutating func end(
        _ name: StoreName, _ outcome: TransferMessage.Outcome, holding held: ManifestContent.ID?, _ now: Date,
        _ backoff: Backoff
    ) {
        guard var entry = stores[name], let transfer = entry.underWay else { return }
        entry.underWay = nil
        switch outcome {
        case .installed, .unchanged:
            if held == transfer.content { entry = Entry() } else { entry.postpone(now, backoff) }
        case .outdated:
            if held != transfer.over { entry.notBefore = nil } else { entry.postpone(now, backoff) }
        case .refused(let reason):
            if reason.remedy == .anotherForm, let next = entry.manner.next {
                entry.manner = next
            } else {
                let before = entry.refusal.flatMap { $0.content == transfer.content ? $0.attempts : nil } ?? 0
                let isRetried = reason.remedy == .time && before + 1 < Self.maximumAttempts
                let next = isRetried ? backoff.time(after: before + 1, from: now) : nil
                entry.refusal = Refusal(
                    content: transfer.content, attempts: before + 1, code: reason.code, message: reason.message,
                    next: next)
                entry.manner = .delta
            }
        }
        stores[name] = entry
    }

    /// The session could not deliver a shipment.
    ///
    /// - Returns: Its store, if the shipment is under way.
    mutating func fail(_ token: TransferMessage.Token, at now: Date, _ backoff: Backoff) -> StoreName? {
        guard let name = stores.first(where: { $0.value.underWay?.token == token })?.key, var entry = stores[name]
        else {
            return nil
        }
        entry.underWay = nil
        entry.postpone(now, backoff)
        stores[name] = entry
        return name
    }
}

extension SenderRecord.Entry {
    /// Counts a failure, and delays the next attempt.
    mutating func postpone(_ now: Date, _ backoff: Backoff) {
        failures += 1
        notBefore = backoff.time(after: failures, from: now)
    }
}

extension HoldingsFile {
    /// The same, with one store as in another one.
    func replacing(_ name: StoreName, from other: HoldingsFile) -> HoldingsFile {
        other.holding(holds.filter { $0.name != name } + [other[name]].compactMap(\.self))
    }

    /// The same without a store, as if it were not held.
    func without(_ name: StoreName) -> HoldingsFile { holding(holds.filter { $0.name != name }) }

    private func holding(_ holds: [Held]) -> HoldingsFile {
        HoldingsFile(
            software: software.unescaped, createdAt: createdAt, until: until, sender: sender, receiver: receiver,
            holds: holds)
    }
}

extension Reason {
    /// What may have the receiver accept the same content.
    fileprivate enum Remedy { case anotherForm, time, none }

    fileprivate var remedy: Remedy {
        switch knownCode {
        case .missingBase, .damaged, .unknownFrame, .protocolViolation, .featureNotSupported, .badManifest: .anotherForm
        case .noSpace, .cannotInstall, .held, .busy, .timedOut, .stopped: .time
        case .versionNotSupported, .badStore, .wrongModel, .wrongSchema, .probeFailed, .tooLarge, .rolledBack,
            .otherStore,
            .notTrusted, .badSignature, .replayed, nil:
            .none
        }
    }
}
