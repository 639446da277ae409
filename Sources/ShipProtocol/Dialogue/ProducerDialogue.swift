/// What the two-way producer waits for before it offers anything. A one-way producer hears nothing, and has no dialogue.
///
///     awaiting preamble -> awaiting hello
///
/// Source: `Protocol/README.md` section 6.1. Vectors: `dialogue_*`.
package struct ProducerGreeting: Sendable {
    /// What the consumer's greeting comes to.
    package enum End: Sendable {
        /// It is there: offer shipments, or end this direction.
        case goOn(ProducerDialogue)
        /// The consumer has ended the session.
        case stop(Reason)
    }

    private var hasPreamble = false

    package init() {}

    /// - Returns: `nil` until the consumer has greeted.
    /// - Throws: An error after which the session is over.
    package mutating func receive(_ element: FrameParser.Element) throws(ProtocolError) -> End? {
        switch element {
        case .preamble(let preamble) where !hasPreamble:
            _ = try Preamble(role: .producer, mode: .twoWay).sessionVersion(with: preamble)
            hasPreamble = true
            return nil
        case .unknownOptionalFrame, .frame(.working): return nil
        case .frame(.hello(let hello)) where hasPreamble: return .goOn(ProducerDialogue(hello))
        case .frame(.refusal(let reason)) where reason.extent == .session: return .stop(reason)
        case .frame(let frame): throw .outOfOrder(frame.type.rawValue)
        case .preamble: throw .badPreamble
        }
    }
}

/// What the two-way producer does next, whatever comes over the link.
///
///     between shipments -> awaiting answer -> sending <-> awaiting receipt
///            ^                    |               |               |
///            +---- refused, or the last word on what was cancelled+
///
/// Source: `Protocol/README.md` section 6.1. Vectors: `dialogue_*`.
package struct ProducerDialogue: Sendable {
    /// What is to be done now.
    package enum Action: Hashable, Sendable {
        /// Send these parts, then END, and say so by `opened(part:_:)` and `sentAll()`, as long as `maySend`.
        case send([WantedPart])
        /// The consumer's last word on the shipment.
        case conclude(Receipt)
        /// The consumer wants what this side cannot give: CANCEL is due, and `cancelled()`.
        case giveUp(ProtocolError)
        /// The consumer does not take the shipment. If it is being sent, CANCEL is due, and `cancelled()`.
        case drop(Reason)
        /// The consumer has ended the session.
        case stop(Reason)
    }

    private enum State: Hashable, Sendable {
        case betweenShipments
        case awaitingAnswer(Manifest)
        case sending(Manifest)
        /// It has been refused while it is sent.
        case dropping
        case awaitingReceipt(Manifest)
        /// It has been given up, and the consumer has not said yet that it knows.
        case awaitingLastWord(Manifest)
        case done
    }

    private var state = State.betweenShipments
    private let common: CommonEncodings
    /// What the consumer has said that it holds, by the names of the stores.
    private let held: [StoreName: Hello.HeldStore]
    /// In which encodings each part of the shipment has been sent.
    private var begun: [Int: Set<PartEncoding>] = [:]

    init(_ hello: Hello) {
        common = CommonEncodings(hello)
        held = Dictionary((hello.holds ?? []).map { ($0.name, $0) }) { first, _ in first }
    }

    /// What a manifest may refer to: what it says itself, if that is current on the other side; else what this side remembers.
    ///
    /// - Parameter remembered: Contents of manifests of that store, the best first.
    package func base(of manifest: Manifest, remembering remembered: [ManifestContent] = []) -> ManifestContent? {
        guard let held = held[manifest.name] else { return nil }
        let own = ManifestContent(of: manifest)
        return ([own] + remembered).first { $0.id == held.manifest }
            ?? ([own] + remembered).first { $0.id.start == held.unfinished }
            ?? remembered.first { held.kept?.contains($0.id.start) ?? false }
    }

    /// Which shipment of a store broke off, and goes on where it did; `nil` for none.
    package func unfinished(_ name: StoreName) -> ManifestContent.ID.Start? { held[name]?.unfinished }

    /// Whether the consumer has a word to say on a shipment.
    package var isAwaiting: Bool {
        switch state {
        case .awaitingAnswer, .sending, .awaitingReceipt, .awaitingLastWord: true
        case .dropping, .betweenShipments, .done: false
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
        case (.awaitingAnswer(let manifest), .frame(.answer(let answer))):
            return try send(answer, of: manifest)
        case (.awaitingReceipt(let manifest), .frame(.answer(let answer))):
            guard answer.asksAgain else { throw .outOfOrder(FrameType.answer.rawValue) }
            return try send(answer, of: manifest, again: true)
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
        switch (state, reason.extent) {
        case (.awaitingAnswer, .shipment), (.awaitingReceipt, .shipment), (.awaitingLastWord, .shipment):
            state = .betweenShipments
            return .drop(reason)
        case (.sending, .shipment):
            state = .dropping
            return .drop(reason)
        case (_, .session):
            state = .done
            return .stop(reason)
        case (.betweenShipments, .shipment), (.dropping, .shipment), (.done, .shipment):
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
        guard receipt.name == manifest.name else {
            throw .badMessage(type: FrameType.receipt.rawValue, flaw: "it is for another store")
        }
        guard receipt.sha256 == manifest.store.sha256 else { throw .damaged(.installedStore) }
        state = .betweenShipments
        return .conclude(receipt)
    }

    /// The manifest has been sent.
    ///
    /// - Throws: While another shipment is under way.
    package mutating func offered(_ manifest: Manifest) throws(BrokenInvariant) {
        guard case .betweenShipments = state else { throw BrokenInvariant("a shipment is offered amid another") }
        begun = [:]
        state = .awaitingAnswer(manifest)
    }

    /// A part goes in an encoding.
    ///
    /// - Returns: Whether it begins anew.
    package mutating func opened(part index: Int, _ encoding: PartEncoding) -> Bool {
        defer { begun[index, default: []].insert(encoding) }
        return begun[index] != nil
    }

    /// Whether more may go of the shipment.
    package var maySend: Bool { if case .sending = state { true } else { false } }

    /// All parts have been sent, and END is the next to go.
    ///
    /// - Returns: Whether it still may.
    package mutating func sentAll() -> Bool {
        guard case .sending(let manifest) = state else { return false }
        state = .awaitingReceipt(manifest)
        return true
    }

    /// Whether CANCEL of the shipment would not come too late.
    package var mayCancel: Bool {
        switch state {
        case .awaitingAnswer, .sending, .dropping: true
        case .betweenShipments, .awaitingReceipt, .awaitingLastWord, .done: false
        }
    }

    /// Whether CANCEL of the session would not come too late.
    package var mayCancelSession: Bool {
        switch state {
        case .betweenShipments, .awaitingAnswer, .sending, .dropping, .awaitingLastWord: true
        case .awaitingReceipt, .done: false
        }
    }

    /// CANCEL of the shipment has been sent.
    package mutating func cancelled() {
        switch state {
        case .dropping: state = .betweenShipments
        case .awaitingAnswer(let manifest), .sending(let manifest): state = .awaitingLastWord(manifest)
        case .betweenShipments, .awaitingReceipt, .awaitingLastWord, .done: break
        }
    }

    /// END has been sent between two shipments: nothing more goes.
    package mutating func finished() { state = .done }

    /// - Throws: `.truncated` if the consumer should have said more.
    package mutating func linkEnded() throws(ProtocolError) {
        if case .done = state { return }
        throw .truncated
    }
}
