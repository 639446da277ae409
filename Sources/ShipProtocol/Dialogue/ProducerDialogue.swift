/// What the two-way producer does next, whatever comes over the link. A one-way producer hears nothing, and has no
/// dialogue.
///
///     awaiting preamble -> awaiting hello -> copying -> awaiting answer -> sending -> awaiting receipt -> done
///                                                                             ^               |
///                                                                             +- again, once -+
///
/// Source: `Protocol/README.md` section 6.1. Vectors: `dialogue_*`.
package struct ProducerDialogue: Sendable {
    /// What is to be done now.
    package enum Action: Hashable, Sendable {
        /// Take the copy, send its manifest, and say so by `offered(_:)`.
        case offer(to: Hello)
        /// Send all parts but these, then END, and say so by `sentAll(storeAs:)`.
        case send(skipping: Set<Int>)
        /// The consumer could not make the store from its rows: send it in blocks, then END, and say so.
        case sendStoreAgain
        /// The consumer's last word.
        case finish(Receipt)
        case stop(Reason)
    }

    private enum State: Hashable, Sendable {
        case awaitingPreamble
        case awaitingHello
        case copying
        case awaitingAnswer(Manifest)
        case sending(Manifest)
        case awaitingReceipt(Manifest, StoreForm)
        case done
    }

    private var state = State.awaitingPreamble

    package init() {}

    /// - Throws: An error after which the session is over.
    package mutating func receive(_ element: FrameParser.Element) throws(ProtocolError) -> Action? {
        switch (state, element) {
        case (.done, _):
            return nil
        case (.awaitingPreamble, .preamble(let preamble)):
            _ = try Preamble(role: .producer, mode: .twoWay).sessionVersion(with: preamble)
            state = .awaitingHello
            return nil
        case (_, .unknownOptionalFrame), (_, .frame(.working)):
            return nil
        case (_, .frame(.refusal(let reason))):
            state = .done
            return .stop(reason)
        case (.awaitingHello, .frame(.hello(let hello))):
            state = .copying
            return .offer(to: hello)
        case (.awaitingAnswer(let manifest), .frame(.accept(let acceptance))) where !acceptance.asksAgain:
            guard acceptance.skippedParts.allSatisfy({ $0 <= manifest.externalFiles.count }) else {
                throw .badMessage(type: FrameType.accept.rawValue, flaw: "it skips a part that there is not")
            }
            state = .sending(manifest)
            return .send(skipping: acceptance.skippedParts)
        case (.awaitingReceipt(let manifest, .columns), .frame(.accept(let acceptance))) where acceptance.asksAgain:
            guard acceptance == Acceptance(askingAgainFor: manifest) else {
                throw .badMessage(type: FrameType.accept.rawValue, flaw: "it asks again for more than the store")
            }
            state = .sending(manifest)
            return .sendStoreAgain
        case (.awaitingAnswer(let manifest), .frame(.receipt(let receipt))) where receipt.outcome == .unchanged:
            return try finish(receipt, for: manifest)
        case (.awaitingReceipt(let manifest, _), .frame(.receipt(let receipt))) where receipt.outcome == .installed:
            return try finish(receipt, for: manifest)
        case (.awaitingPreamble, .frame(let frame)), (.awaitingHello, .frame(let frame)), (.copying, .frame(let frame)),
            (.awaitingAnswer, .frame(let frame)), (.sending, .frame(let frame)), (.awaitingReceipt, .frame(let frame)):
            throw .outOfOrder(frame.type.rawValue)
        case (.awaitingHello, .preamble), (.copying, .preamble), (.awaitingAnswer, .preamble), (.sending, .preamble),
            (.awaitingReceipt, .preamble):
            throw .badPreamble
        }
    }

    /// The manifest has been sent.
    package mutating func offered(_ manifest: Manifest) {
        if case .copying = state { state = .awaitingAnswer(manifest) }
    }

    /// All parts and END have been sent.
    ///
    /// - Parameter form: How the store went; `.plain` also if it was skipped.
    package mutating func sentAll(storeAs form: StoreForm) {
        if case .sending(let manifest) = state { state = .awaitingReceipt(manifest, form) }
    }

    /// - Throws: `.truncated`, unless the last word has been said.
    package mutating func linkEnded() throws(ProtocolError) {
        guard state == .done else { throw .truncated }
    }

    /// A receipt counts only for what was sent.
    private mutating func finish(_ receipt: Receipt, for manifest: Manifest) throws(ProtocolError) -> Action {
        guard receipt.name == manifest.name else {
            throw .badMessage(type: FrameType.receipt.rawValue, flaw: "it is for another store")
        }
        guard receipt.sha256 == manifest.store.sha256 else { throw .damaged(.installedStore) }
        state = .done
        return .finish(receipt)
    }
}
