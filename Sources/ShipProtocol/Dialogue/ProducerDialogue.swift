/// The two-way producer's dialogue: what it does next, whatever comes over the link. A one-way producer hears nothing, and has no dialogue.
///
///     awaiting preamble -> awaiting hello -> between shipments
///
///     between shipments -> awaiting answer -> sending <-> awaiting receipt
///            ^                    |               |               |
///            +---- refused, or the last word on what was cancelled+
///
/// Source: `Protocol/README.md` section 6.1. Vectors: `dialogue_*`.
package struct ProducerDialogue: Sendable {
    /// The producer's next step.
    package enum Action: Hashable, Sendable {
        /// Send these parts, then END, and call `opened(part:_:)` and `sentAll()` on the way, as long as `maySend`.
        case send([WantedPart])
        /// The consumer's last word on the shipment.
        case conclude(Receipt)
        /// The consumer wants what this side cannot give: send CANCEL, and call `cancelled()`.
        case giveUp(ProtocolError)
        /// The consumer refuses the shipment. If the producer is sending it: send CANCEL, and call `cancelled()`.
        case drop(Reason)
        /// The consumer has ended the session.
        case stop(Reason)
        /// The consumer tells what the base has in common with the store.
        case compare([UInt8])
        /// The consumer asks for the newest state of a store: answer between two shipments.
        case note(Question)
    }

    private enum State: Hashable, Sendable {
        case awaitingPreamble
        case awaitingHello
        case betweenShipments
        case awaitingAnswer(Manifest)
        case sending(Manifest)
        /// The consumer refused the shipment while the producer was sending it.
        case dropping
        case awaitingReceipt(Manifest)
        /// The producer has cancelled the shipment, and the consumer has not confirmed that yet.
        case awaitingLastWord(Manifest)
        case done
    }

    private var state = State.awaitingPreamble
    /// The encodings that both sides know, from HELLO on.
    private var common = CommonEncodings([])
    /// The consumer's holdings by the names of the stores, as its HELLO says.
    private var held: [StoreName: Hello.HeldStore] = [:]
    /// The stores of which the session has installed a shipment: that is current from then on, and nothing waits.
    private var renewed: Set<StoreName> = []
    /// Those of which it has had a receipt of either kind.
    private var acknowledged: Set<StoreName> = []
    private var installed = InstalledContents()
    /// Whether a manifest has gone: then the producer may end the session.
    package private(set) var hasOffered = false
    /// How often the consumer wants to hear a producer that stays, in seconds; `nil` if it does not wait for one.
    private var wanted: Int?
    /// The consumer's use of signatures; `nil` if no SIGNATURE may go.
    package private(set) var signatures: Hello.Signatures?
    /// How often each side says between two shipments that it is there; `nil` unless the producer has said that it stays.
    package private(set) var stays: Duration?
    /// Whether the producer has said that it answers questions.
    private var isAskable = false
    /// How many requests about the base have gone for the shipment, and how many were answered.
    private var comparisons = (asked: 0, answered: 0)
    /// The encodings in which this side has opened each part of the shipment.
    private var begun: [Int: Set<PartEncoding>] = [:]

    package init() {}

    /// Whether the consumer has greeted: the producer may offer shipments, or end its direction.
    package var isGreeted: Bool {
        switch state {
        case .awaitingPreamble, .awaitingHello: false
        case .betweenShipments, .awaitingAnswer, .sending, .dropping, .awaitingReceipt, .awaitingLastWord, .done: true
        }
    }

    /// The content that a manifest may refer to: its own, if that is current on the other side; else one that this side remembers.
    ///
    /// - Parameter remembered: Contents of manifests of that store, the best first.
    package func base(of manifest: Manifest, remembering remembered: [ManifestContent] = []) -> ManifestContent? {
        let held = held[manifest.name]
        let own = ManifestContent(of: manifest)
        return ([own] + remembered).first { $0.id == current(manifest.name) }
            ?? ([own] + remembered).first { $0.id.start == held?.unfinished }
            ?? remembered.first { $0.id == held?.manifest || held?.kept?.contains($0.id.start) ?? false }
    }

    /// The content of the manifest that is current at the consumer, if this side may refer to it.
    private func current(_ name: StoreName) -> ManifestContent.ID? {
        renewed.contains(name) ? installed[name]?.id : held[name]?.manifest
    }

    /// Whether a content is that of the manifest that is current at the consumer.
    package func isCurrent(_ content: ManifestContent?, named name: StoreName) -> Bool {
        content?.id == current(name)
    }

    /// The shipment of a store that broke off and may go on there; `nil` for none.
    package func unfinished(_ name: StoreName) -> ManifestContent.ID.Start? {
        // A state that is older than one that has been acknowledged does not follow it.
        acknowledged.contains(name) ? nil : held[name]?.unfinished
    }

    /// The producer wants to stay between two shipments.
    ///
    /// - Parameter interval: How often it wants to hear the consumer.
    /// - Returns: What it says; `nil` if the consumer does not wait for a producer that stays.
    package mutating func stay(every interval: Duration) -> Stay? {
        guard let wanted, case .betweenShipments = state else { return nil }
        let stay = Stay(every: interval)
        stays = stay.agreed(with: wanted)
        return stay
    }

    /// The producer wants to say that it answers questions.
    ///
    /// - Returns: Whether the consumer may ask: it waits for a producer that stays, and has heard that this one does.
    package mutating func answersQuestions() -> Bool {
        guard stays != nil, case .betweenShipments = state else { return false }
        isAskable = true
        return true
    }

    /// Whether the consumer owes a reply about a shipment.
    package var isAwaiting: Bool {
        switch state {
        case .awaitingAnswer, .sending, .awaitingReceipt, .awaitingLastWord: true
        case .awaitingPreamble, .awaitingHello, .dropping, .betweenShipments, .done: false
        }
    }

    /// - Throws: An error after which the session is over.
    package mutating func receive(_ element: FrameParser.Element) throws(ProtocolError) -> Action? {
        switch (state, element) {
        case (.done, _):
            return nil
        case (_, .unknownOptionalFrame), (_, .frame(.working)):
            return nil
        case (_, .frame(.refusal(let reason))):
            return try refused(reason)
        case (_, .frame(.question(let question))) where isAskable:
            // It may have crossed a manifest.
            return .note(question)
        case (.awaitingPreamble, .preamble(let preamble)):
            _ = try Preamble(role: .producer, mode: .twoWay).sessionVersion(with: preamble)
            state = .awaitingHello
            return nil
        case (.awaitingHello, .frame(.hello(let hello))):
            common = CommonEncodings(hello)
            wanted = hello.stays
            signatures = hello.knownSignatures
            held = Dictionary((hello.holds ?? []).map { ($0.name, $0) }) { first, _ in first }
            state = .betweenShipments
            return nil
        case (.awaitingAnswer(let manifest), .frame(.answer(let answer))):
            return try send(answer, of: manifest)
        case (.awaitingReceipt(let manifest), .frame(.answer(let answer))):
            guard answer.asksAgain else { throw .outOfOrder(FrameType.answer.rawValue) }
            return try send(answer, of: manifest, again: true)
        case (.sending, .frame(.ranges(let ranges))) where comparisons.answered < comparisons.asked:
            comparisons.answered += 1
            return .compare(ranges)
        case (.awaitingLastWord, .frame(.ranges)) where comparisons.answered < comparisons.asked:
            comparisons.answered += 1
            return nil
        case (.awaitingLastWord, .frame(.answer)):
            return nil
        case (.awaitingAnswer(let manifest), .frame(.receipt(let receipt))) where receipt.outcome == .unchanged,
            (.awaitingLastWord(let manifest), .frame(.receipt(let receipt))) where receipt.outcome == .unchanged:
            return try conclude(receipt, for: manifest)
        case (.awaitingReceipt(let manifest), .frame(.receipt(let receipt))) where receipt.outcome == .installed:
            return try conclude(receipt, for: manifest)
        case (_, .frame(let frame)):
            throw .outOfOrder(frame.type.rawValue)
        case (_, .preamble):
            throw .badPreamble
        }
    }

    private mutating func refused(_ reason: Reason) throws(ProtocolError) -> Action {
        switch (state, reason.scope) {
        case (.awaitingAnswer, .shipment), (.awaitingReceipt, .shipment), (.awaitingLastWord, .shipment):
            state = .betweenShipments
            return .drop(reason)
        case (.sending, .shipment):
            state = .dropping
            return .drop(reason)
        case (_, .session):
            state = .done
            return .stop(reason)
        case (.awaitingPreamble, .shipment), (.awaitingHello, .shipment), (.betweenShipments, .shipment),
            (.dropping, .shipment), (.done, .shipment):
            throw .outOfOrder(FrameType.refusal.rawValue)
        }
    }

    private mutating func send(
        _ answer: Answer, of manifest: Manifest, again isAgain: Bool = false
    ) throws(ProtocolError) -> Action {
        do throws(ProtocolError) {
            let wanted = try common.wanted(by: answer, of: manifest, again: isAgain)
            guard wanted.allSatisfy({ begun[$0.index, default: []].isDisjoint(with: $0.encodings) }) else {
                throw .outOfOrder(FrameType.answer.rawValue)
            }
            state = .sending(manifest)
            return .send(wanted)
        } catch {
            guard case .noCommonEncoding = error else { throw error }
            state = .sending(manifest)
            return .giveUp(error)
        }
    }

    private mutating func conclude(_ receipt: Receipt, for manifest: Manifest) throws(ProtocolError) -> Action {
        guard receipt.name == manifest.name else { throw FrameType.receipt.bad("it is for another store") }
        guard receipt.sha256 == manifest.store.sha256 else { throw .damaged(.installedStore) }
        acknowledged.insert(manifest.name)
        if receipt.outcome == .installed {
            installed.insert(manifest)
            renewed.insert(manifest.name)
        }
        state = .betweenShipments
        return .conclude(receipt)
    }

    /// The producer has sent the manifest.
    ///
    /// - Throws: Before the consumer has greeted, and while another shipment is under way.
    package mutating func offered(_ manifest: Manifest) throws(BrokenInvariant) {
        guard case .betweenShipments = state else { throw BrokenInvariant("a shipment is offered amid another") }
        begun = [:]
        comparisons = (0, 0)
        hasOffered = true
        state = .awaitingAnswer(manifest)
    }

    /// The producer asks about the base of the store, before it opens the first part.
    ///
    /// - Returns: Whether it may.
    package mutating func asksAboutBase() -> Bool {
        guard case .sending = state, begun.isEmpty, comparisons.answered == comparisons.asked,
            comparisons.asked < Limits.comparisons
        else { return false }
        comparisons.asked += 1
        return true
    }

    /// The producer opens a part in an encoding.
    ///
    /// - Returns: Whether it begins anew.
    package mutating func opened(part index: Int, _ encoding: PartEncoding) -> Bool {
        defer { begun[index, default: []].insert(encoding) }
        return begun[index] != nil
    }

    /// Whether the producer may send more of the shipment.
    package var maySend: Bool { if case .sending = state { true } else { false } }

    /// The producer has sent all parts, and sends END next.
    ///
    /// - Returns: Whether it still may send END.
    package mutating func sentAll() -> Bool {
        guard case .sending(let manifest) = state else { return false }
        state = .awaitingReceipt(manifest)
        return true
    }

    /// Whether it is not too late for CANCEL of the shipment.
    package var mayCancel: Bool {
        switch state {
        case .awaitingAnswer, .sending, .dropping: true
        case .awaitingPreamble, .awaitingHello, .betweenShipments, .awaitingReceipt, .awaitingLastWord, .done: false
        }
    }

    /// Whether it is not too late for CANCEL of the session.
    package var mayCancelSession: Bool {
        switch state {
        case .awaitingPreamble, .awaitingHello, .betweenShipments, .awaitingAnswer, .sending, .dropping,
            .awaitingLastWord:
            true
        case .awaitingReceipt, .done: false
        }
    }

    /// The producer has sent CANCEL of the shipment.
    package mutating func cancelled() {
        switch state {
        case .dropping: state = .betweenShipments
        case .awaitingAnswer(let manifest), .sending(let manifest): state = .awaitingLastWord(manifest)
        case .awaitingPreamble, .awaitingHello, .betweenShipments, .awaitingReceipt, .awaitingLastWord, .done: break
        }
    }

    /// The producer has sent END between two shipments, and sends nothing more.
    package mutating func finished() { state = .done }

    /// - Throws: `.truncated` if the consumer should have said more.
    package mutating func linkEnded() throws(ProtocolError) {
        if case .done = state { return }
        throw .truncated
    }
}
