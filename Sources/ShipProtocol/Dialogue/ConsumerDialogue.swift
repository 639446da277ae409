/// What the consumer does next, whatever comes over the link.
///
///     start -> awaiting preamble -> awaiting manifest (-> awaiting signed manifest) -> considering -> receiving -> (one-way: complete) -> done
///                                                                          ^             (two-way: sealing)
///                                                                          +-- again, once --+
///
/// Source: `Protocol/README.md` section 6.2. Vectors: `stream_*`, `dialogue_*`.
package struct ConsumerDialogue: Sendable {
    /// What is to be done now.
    package enum Action: Hashable, Sendable {
        /// Send the preamble and HELLO, if they have not been sent yet.
        case greet
        /// Say whether this shipment is welcome, by `accept(skipping:)`, or end the dialogue with a receipt or refusal.
        case consider(Manifest)
        /// Decode the block, and append it to its part.
        case append(Block)
        /// Decode the segment, and go on making the store. What is wrong with it counts only once the store is definite.
        case appendRows(Columns)
        /// Discard what has come of the store, which begins again with this block.
        case startAgain(Block)
        /// All parts are complete: verify and install. If the store is not the manifest's, see `askAgain()`.
        case install
        /// The producer has given up; there is nothing to answer.
        case discard(Reason)
    }

    private enum State: Hashable, Sendable {
        case awaitingPreamble
        case awaitingManifest
        /// One-way: who made the shipment has been said.
        case awaitingSignedManifest
        case considering(Manifest)
        case receiving(Manifest, PartSequence)
        /// One-way: nothing but the end of the link may come.
        case complete
        /// Two-way: the store came in this form, and the last word is ours.
        case sealing(Manifest, StoreForm?)
        case done
    }

    private var state = State.awaitingPreamble
    /// Known once the producer's preamble has come.
    package private(set) var mode: Preamble.Mode?

    /// Of the session; known with the mode.
    package private(set) var version: UInt8?
    /// Who made the shipment, as it says itself: to be verified before anything is staged.
    package private(set) var signature: Signature?

    private let forms: Set<StoreForm>

    /// - Parameter forms: How the consumer takes a store, as its HELLO says.
    package init(taking forms: Set<StoreForm>) {
        self.forms = forms
    }

    /// - Throws: An error after which the session is over.
    package mutating func receive(_ element: FrameParser.Element) throws(ProtocolError) -> Action? {
        switch (state, element) {
        case (.done, _), (.sealing, _):
            return nil
        case (.awaitingPreamble, .preamble(let preamble)):
            mode = preamble.mode
            version = try Preamble(role: .consumer, mode: .twoWay).sessionVersion(with: preamble)
            state = .awaitingManifest
            return preamble.mode == .twoWay ? .greet : nil
        case (_, .unknownOptionalFrame), (_, .frame(.working)):
            return nil
        case (.awaitingPreamble, .frame(.cancel(let reason))), (.awaitingManifest, .frame(.cancel(let reason))),
            (.awaitingSignedManifest, .frame(.cancel(let reason))), (.considering, .frame(.cancel(let reason))),
            (.receiving, .frame(.cancel(let reason))):
            state = .done
            return .discard(reason)
        case (.awaitingManifest, .frame(.signature(let signature))) where mode == .oneWay:
            self.signature = signature
            state = .awaitingSignedManifest
            return nil
        case (.awaitingManifest, .frame(.manifest(let manifest))),
            (.awaitingSignedManifest, .frame(.manifest(let manifest))):
            if let feature = manifest.requires.first { throw .featureNotSupported(feature) }
            guard signature == nil || manifest.counter != nil else {
                throw .badMessage(type: FrameType.manifest.rawValue, flaw: "it is signed, and has no counter")
            }
            state = .considering(manifest)
            return .consider(manifest)
        case (.receiving(let manifest, var sequence), .frame(.block(let block))):
            let admission = try sequence.admit(block)
            state = .receiving(manifest, sequence)
            return admission == .restart ? .startAgain(block) : .append(block)
        case (.receiving(let manifest, var sequence), .frame(.columns(let columns))):
            guard forms.contains(.columns) else { throw .featureNotSupported(Hello.columns) }
            try sequence.admit(columns)
            state = .receiving(manifest, sequence)
            return .appendRows(columns)
        case (.receiving(let manifest, let sequence), .frame(.end)):
            guard sequence.isComplete else { throw .incomplete }
            state = mode == .oneWay ? .complete : .sealing(manifest, sequence.storeForm)
            return mode == .oneWay ? nil : .install
        case (.awaitingPreamble, .frame(let frame)), (.awaitingManifest, .frame(let frame)),
            (.awaitingSignedManifest, .frame(let frame)), (.considering, .frame(let frame)),
            (.receiving, .frame(let frame)), (.complete, .frame(let frame)):
            throw .outOfOrder(frame.type.rawValue)
        case (.awaitingManifest, .preamble), (.awaitingSignedManifest, .preamble), (.considering, .preamble),
            (.receiving, .preamble), (.complete, .preamble):
            throw .badPreamble
        }
    }

    /// The shipment that is considered is welcome.
    ///
    /// - Parameter skipped: Indexes of parts that are here already; none in one-way mode.
    package mutating func accept(skipping skipped: Set<Int> = []) {
        guard case .considering(let manifest) = state else { return }
        state = .receiving(manifest, PartSequence(sizes: manifest.parts.map(\.size), skipping: skipped))
    }

    /// The store did not come to what the manifest says.
    ///
    /// - Returns: What to send, so that it comes again in blocks, and nothing else does; `nil` if nobody can be asked, or it
    ///   came in blocks.
    package mutating func askAgain() -> Acceptance? {
        guard case .sealing(let manifest, .columns) = state else { return nil }
        let acceptance = Acceptance(askingAgainFor: manifest)
        let sequence = PartSequence(
            sizes: manifest.parts.map(\.size), skipping: acceptance.skippedParts, storeAs: [.plain])
        state = .receiving(manifest, sequence)
        return acceptance
    }

    /// - Throws: `.truncated` if more should have come.
    package mutating func linkEnded() throws(ProtocolError) -> Action? {
        switch state {
        case .complete:
            state = .done
            return .install
        case .done, .sealing:
            return nil
        case .awaitingPreamble, .awaitingManifest, .awaitingSignedManifest, .considering, .receiving:
            throw .truncated
        }
    }
}
