import EssentialFoundation
import ShipStore

/// What a sender knows: what its receiver holds, as far as that has said so, and what is under way. It survives the process.
///
/// Order is no help here, as nothing keeps it. So the receiver's word counts in full only where it answers the newest question, or
/// the shipment that is under way; any other word that says something else than is believed leads to a new question.
struct SenderRecord: Hashable, Sendable {
    /// How often the same is sent to a receiver that refuses it for what may pass.
    static let mostAttempts = 8

    /// What the receiver holds; `nil` before it has ever said so.
    var held: HoldingsFile?
    /// The question that is not answered yet.
    var question: Question?
    /// By name; none for a store of which there is nothing to be known.
    var stores: [StoreName: Entry] = [:]

    struct Question: Hashable, Sendable, Codable {
        var token = TransferMessage.Token()
        /// How often it was asked, since there was an answer.
        var attempts = 0
        /// When it is asked again; `nil` if it is to be asked at once.
        var next: Date?
    }

    struct Entry: Hashable, Sendable, Codable {
        var underWay: Transfer?
        /// What was refused last.
        var refusal: Refusal?
        var manner = Manner.delta
        /// Since something arrived.
        var failures = 0
        /// Before that nothing is sent.
        var notBefore: Date?
    }

    /// A shipment that was handed to the session.
    struct Transfer: Hashable, Sendable, Codable {
        let token: TransferMessage.Token
        let content: ManifestContent.ID
        let over: ManifestContent.ID?
        let began: Date
        /// When to ask, since the session has it no more; `nil` as long as it has, as far as is known.
        var patience: Date?
        /// What the receiver holds has been said since: if the session has it no more, it has arrived or is lost.
        var isSettled = false
    }

    struct Refusal: Hashable, Sendable, Codable {
        let content: ManifestContent.ID
        /// How often this content was refused for what may pass.
        let attempts: Int
        let code: ForeignText
        let message: ForeignText
        /// When the same may be sent again; `nil` for never.
        let next: Date?
    }

    /// How a store goes: each is for what came to nothing in the one before.
    enum Manner: String, Sendable, Codable {
        case delta, whole, plain

        var next: Manner? {
            switch self {
            case .delta: .whole
            case .whole: .plain
            case .plain: nil
            }
        }
    }

    /// What is current at the receiver, of what came from here.
    func current(_ name: StoreName) -> ManifestContent.ID? { held?[name]?.manifest }

    // MARK: What the receiver says

    /// Takes the receiver's word.
    ///
    /// - Parameter backoff: For what it refuses and may take later.
    /// - Returns: Of which store the shipment was that it speaks of, if that is the one under way.
    mutating func hear(_ answer: TransferMessage.Answer, at now: Date, _ backoff: Backoff) -> StoreName? {
        if let token = answer.token, let name = stores.first(where: { $0.value.underWay?.token == token })?.key {
            if let outcome = answer.outcome {
                end(name, outcome, holding: answer.holdings[name]?.manifest, now, backoff)
            }
            if question == nil, held != nil {
                held = held?.taking(name, from: answer.holdings)
                if held?.holds != answer.holdings.holds { doubt() }
            } else {
                doubt()
            }
            return name
        }
        if let question, answer.token == question.token {
            held = answer.holdings
            self.question = nil
            for name in stores.keys { stores[name]?.underWay?.isSettled = true }
        } else if question != nil {
            // Somebody who speaks unasked has just begun, perhaps with less than before. Other answers are late ones.
            if answer.token == nil { doubt() }
        } else if held?.holds != answer.holdings.holds {
            doubt()
        } else if answer.token == nil, stores.values.contains(where: { $0.underWay != nil }) {
            doubt()
        }
        return nil
    }

    /// What is believed counts no more before a new question is answered.
    mutating func doubt() { question = Question() }

    /// - Parameter held: What the receiver says that it holds, whatever became of the shipment. Where that is not what the outcome
    ///   says, there is no use in doing the same again at once.
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
            if reason.mayBeOfItsForm, let next = entry.manner.next {
                entry.manner = next
            } else {
                let before = entry.refusal.flatMap { $0.content == transfer.content ? $0.attempts : nil } ?? 0
                let isRetried = reason.mayPass && before + 1 < Self.mostAttempts
                let next = isRetried ? backoff.time(after: before + 1, from: now) : nil
                entry.refusal = Refusal(
                    content: transfer.content, attempts: before + 1, code: reason.code, message: reason.message,
                    next: next)
                entry.manner = .delta
            }
        }
        stores[name] = entry
    }

    /// The session could not deliver what was under way.
    ///
    /// - Returns: Of which store it was.
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
    /// Something failed, and is tried again later.
    mutating func postpone(_ now: Date, _ backoff: Backoff) {
        failures += 1
        notBefore = backoff.time(after: failures, from: now)
    }
}

extension HoldingsFile {
    /// The same, with what another one says of one store.
    func taking(_ name: StoreName, from other: HoldingsFile) -> HoldingsFile {
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
    /// Whether the same content may be taken in another form.
    fileprivate var mayBeOfItsForm: Bool {
        switch knownCode {
        case .missingBase, .damaged, .unknownFrame, .protocolViolation, .featureNotSupported, .badManifest: true
        case .versionNotSupported, .badStore, .wrongModel, .wrongSchema, .probeFailed, .tooLarge, .noSpace,
            .cannotInstall, .rolledBack, .otherStore, .busy, .timedOut, .stopped, .notTrusted, .badSignature, .replayed,
            nil:
            false
        }
    }

    /// Whether the same may be taken at another time.
    fileprivate var mayPass: Bool {
        switch knownCode {
        case .noSpace, .cannotInstall, .busy, .timedOut, .stopped: true
        case .damaged, .missingBase, .unknownFrame, .protocolViolation, .featureNotSupported, .badManifest,
            .versionNotSupported,
            .badStore, .wrongModel, .wrongSchema, .probeFailed, .tooLarge, .rolledBack, .otherStore, .notTrusted,
            .badSignature, .replayed, nil:
            false
        }
    }
}
