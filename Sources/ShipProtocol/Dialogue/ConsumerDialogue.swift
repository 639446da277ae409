/// What the consumer does next between two shipments, whatever comes over the link.
///
///     awaiting preamble -> between shipments (-> awaiting signed manifest) -> in a shipment
///                               ^  |                                           |
///                               |  +-- passing over what is refused <----------+
///                               +----------------------------------------------+
///
/// END between two shipments is the end of it all.
///
/// Source: `Protocol/README.md` section 6.2. Vectors: `stream_*`, `dialogue_*`.
package struct ConsumerDialogue: Sendable {
    /// What is to be done now.
    package enum Action: Hashable, Sendable {
        /// Send the preamble and HELLO, if they have not been sent yet.
        case greet
        /// A shipment is offered: what comes is its affair, until `end(of:)`.
        case consider(ReceivingDialogue)
        /// The producer has given the session up; there is nothing to answer.
        case stop(Reason)
        /// The producer has no other shipment: nothing more comes.
        case finish
    }

    private enum State: Hashable, Sendable {
        case awaitingPreamble
        case betweenShipments
        /// One-way: who made the shipment has been said.
        case awaitingSignedManifest(Signature)
        case inShipment
        /// Refused: what is on its way comes all the same.
        case passingOver
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

    /// - Parameter common: What the consumer takes, as its HELLO says.
    package init(taking common: CommonEncodings) {
        self.common = common
    }

    /// - Throws: `ProtocolError`, after which the session is over; `BrokenInvariant` while a shipment comes.
    package mutating func receive(_ element: FrameParser.Element) throws -> Action? {
        switch (state, element) {
        // Two-way, nobody reads on.
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
        case (.betweenShipments, .frame(.signature(let signature))) where mode == .oneWay:
            state = .awaitingSignedManifest(signature)
            return nil
        case (.betweenShipments, .frame(.manifest(let manifest))):
            return try consider(manifest, signedBy: nil)
        case (.awaitingSignedManifest(let signature), .frame(.manifest(let manifest))):
            return try consider(manifest, signedBy: signature)
        case (.passingOver, .frame(.part)), (.passingOver, .frame(.data)):
            return nil
        case (.passingOver, .frame(.end)):
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
            throw ProtocolError.badMessage(
                type: FrameType.manifest.rawValue, flaw: "it is signed, and has no counter")
        }
        guard mode == .oneWay || manifest.base == nil else {
            throw ProtocolError.badMessage(
                type: FrameType.manifest.rawValue, flaw: "it names a base, which the consumer does where it answers")
        }
        return .consider(ReceivingDialogue(manifest, signature, mode, common))
    }

    private mutating func cancelled(_ reason: Reason) -> Action? {
        switch (reason.extent, state) {
        case (.shipment, .betweenShipments), (.shipment, .passingOver), (.shipment, .awaitingSignedManifest):
            state = .betweenShipments
            return nil
        case (.session, _), (.shipment, .awaitingPreamble), (.shipment, .inShipment), (.shipment, .done):
            state = .done
            return .stop(reason)
        }
    }

    /// The last word on a shipment has been said: it is installed, was here already, is refused, or was given up.
    package mutating func end(of shipment: ReceivingDialogue) {
        guard state == .inShipment else { return }
        state = shipment.isOnItsWay ? .passingOver : .betweenShipments
    }

    /// - Throws: `.truncated` or `.noEnd` if more should have come: a session that is whole has said that it is over.
    package func linkEnded() throws(ProtocolError) {
        if state == .done { return }
        throw state == .betweenShipments && shipments > 0 ? .noEnd : .truncated
    }
}
