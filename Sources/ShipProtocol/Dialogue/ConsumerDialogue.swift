/// The consumer's dialogue around shipments: what it does next, whatever comes over the link.
///
///     awaiting preamble -> between shipments (-> awaiting signed manifest) -> in a shipment
///                               ^  |                                           |
///                               |  +-- skipping what is refused <--------------+
///                               +----------------------------------------------+
///
/// END between two shipments ends the session.
///
/// Source: `Protocol/README.md` section 6.2. Vectors: `stream_*`, `dialogue_*`.
package struct ConsumerDialogue: Sendable {
    /// The consumer's next step.
    package enum Action: Hashable, Sendable {
        /// Send the preamble and HELLO, unless they have gone already.
        case greet
        /// The producer offers a shipment: give what comes to this dialogue, until `end(of:)`.
        case consider(ReceivingDialogue)
        /// The producer says what the newest state of a store is.
        case note(Newest)
        /// The producer has cancelled the session; send no answer.
        case stop(Reason)
        /// The producer has no other shipment: nothing more comes.
        case finish
    }

    private enum State: Hashable, Sendable {
        case awaitingPreamble
        case betweenShipments
        /// SIGNATURE has come.
        case awaitingSignedManifest(Signature)
        case inShipment
        /// The consumer has refused a shipment, and what is on its way still comes.
        case skippingRefused
        case done
    }

    private var state = State.awaitingPreamble
    /// How many manifests have come.
    private var shipments = 0
    /// Known once the producer's preamble has come.
    package private(set) var mode: Preamble.Mode?
    /// Of the session; known with the mode.
    package private(set) var version: UInt8?

    private let common: CommonEncodings
    private let interval: Stay?
    /// Whether SIGNATURE may come in two-way mode.
    private let takesSignatures: Bool
    /// Whether what comes is the rest of a shipment that was refused.
    package var skipsRefused: Bool { state == .skippingRefused }

    /// How often each side says between two shipments that it is there; `nil` for a producer that does not stay.
    package private(set) var stays: Duration?
    /// Whether the producer answers questions between two shipments.
    package private(set) var isAskable = false

    /// - Parameters:
    ///   - common: What the consumer supports, as its HELLO says.
    ///   - interval: How often it wants to hear a producer that stays, as its HELLO says; `nil` if it does not wait for one.
    ///   - signatures: What it does with signatures in two-way mode, as its HELLO says.
    package init(
        taking common: CommonEncodings, staying interval: Duration? = nil, signatures: Hello.Signatures? = nil
    ) {
        self.common = common
        takesSignatures = signatures != nil
        self.interval = interval.map(Stay.init(every:))
    }

    /// - Throws: `ProtocolError`, after which the session is over; `BrokenInvariant` while a shipment comes.
    package mutating func receive(_ element: FrameParser.Element) throws -> Action? {
        switch (state, element) {
        // In two-way mode the rest is ignored.
        case (.done, .frame(let frame)) where mode == .oneWay:
            throw ProtocolError.outOfOrder(frame.type.rawValue)
        case (.done, .unknownOptionalFrame) where mode == .oneWay, (.done, .preamble) where mode == .oneWay:
            throw ProtocolError.badPreamble
        case (.done, _):
            return nil
        case (.awaitingPreamble, .preamble(let preamble)):
            mode = preamble.mode
            version = try Preamble(role: .consumer, mode: .twoWay).sessionVersion(with: preamble)
            state = .betweenShipments
            return preamble.mode == .twoWay ? .greet : nil
        case (.inShipment, _):
            throw BrokenInvariant("a shipment comes, and is not asked")
        case (_, .unknownOptionalFrame), (_, .frame(.working)):
            return nil
        case (_, .frame(.cancel(let reason))):
            return cancelled(reason)
        case (.betweenShipments, .frame(.stay(let stay))) where mode == .twoWay:
            stays = interval?.agreed(with: stay.interval)
            return nil
        case (.betweenShipments, .frame(.askable)) where mode == .twoWay:
            isAskable = stays != nil
            return nil
        case (.betweenShipments, .frame(.newest(let newest))) where mode == .twoWay:
            return .note(newest)
        case (.betweenShipments, .frame(.signature(let signature))) where mode == .oneWay || takesSignatures:
            state = .awaitingSignedManifest(signature)
            return nil
        case (.betweenShipments, .frame(.manifest(let manifest))):
            return try consider(manifest, signedBy: nil)
        case (.awaitingSignedManifest(let signature), .frame(.manifest(let manifest))):
            return try consider(manifest, signedBy: signature)
        case (.skippingRefused, .frame(.part)), (.skippingRefused, .frame(.data)):
            return nil
        case (.skippingRefused, .frame(.compare)) where mode == .twoWay:
            return nil
        case (.skippingRefused, .frame(.end)):
            state = .betweenShipments
            return nil
        case (.betweenShipments, .frame(.end)) where shipments > 0:
            state = .done
            return .finish
        case (_, .frame(let frame)):
            throw ProtocolError.outOfOrder(frame.type.rawValue)
        case (_, .preamble):
            throw ProtocolError.badPreamble
        }
    }

    private mutating func consider(_ manifest: Manifest, signedBy signature: Signature?) throws -> Action {
        guard let mode else { throw BrokenInvariant("a manifest before the preamble") }
        shipments += 1
        state = .inShipment
        guard signature == nil || manifest.counter != nil else {
            throw FrameType.manifest.bad("it is signed, and has no counter")
        }
        // What is passed on stays as it was signed, perhaps for a one-way link.
        guard mode == .oneWay || manifest.base == nil || signature != nil else {
            throw FrameType.manifest.bad("it names a base, which the consumer does where it answers")
        }
        let considered = mode == .oneWay ? manifest : manifest.over(nil)
        return .consider(ReceivingDialogue(considered, signature, mode, common))
    }

    private mutating func cancelled(_ reason: Reason) -> Action? {
        switch (reason.scope, state) {
        case (.shipment, .betweenShipments), (.shipment, .skippingRefused), (.shipment, .awaitingSignedManifest):
            state = .betweenShipments
            return nil
        case (.session, _), (.shipment, .awaitingPreamble), (.shipment, .inShipment), (.shipment, .done):
            state = .done
            return .stop(reason)
        }
    }

    /// A shipment is over: installed, here already, refused or cancelled.
    package mutating func end(of shipment: ReceivingDialogue) {
        guard state == .inShipment else { return }
        state = shipment.isOnItsWay ? .skippingRefused : .betweenShipments
    }

    /// - Throws: `.truncated` or `.noEnd` if END has not come.
    package func linkEnded() throws(ProtocolError) {
        if state == .done { return }
        throw state == .betweenShipments && shipments > 0 ? .noEnd : .truncated
    }
}
