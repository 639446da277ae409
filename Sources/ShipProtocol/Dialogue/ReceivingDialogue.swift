/// What the consumer does next with one shipment, from its manifest to the last word on it.
///
///     considering -> receiving <-> sealing -> over
///
/// Source: `Protocol/README.md` section 6.2. Vectors: `stream_*`, `dialogue_*`.
package struct ReceivingDialogue: Hashable, Sendable {
    /// What is to be done now.
    package enum Action: Hashable, Sendable {
        /// Make ready for a part; all that has come of it is void, but for what its stream goes on from.
        ///
        /// - `position`: bytes of the stream that came in an earlier session; 0 for none.
        case open(part: Int, PartEncoding, position: Int64)
        /// Decode this, and write it to the part that is open.
        case append([UInt8], isLast: Bool)
        /// All parts are complete: verify and install; or ask for some again, by `ask(for:)`.
        case install
        /// The producer has given this shipment up.
        case discard(Reason)
        /// The producer has given the session up; there is nothing to answer.
        case stop(Reason)
    }

    private enum State: Hashable, Sendable {
        case considering
        case receiving(PartSequence)
        /// The last word on the shipment is ours.
        case sealing(PartSequence)
        case over
    }

    private var state = State.considering
    package let manifest: Manifest
    /// Who made it, as it says itself: to be verified before anything is staged.
    package let signature: Signature?
    private let mode: Preamble.Mode
    private let common: CommonEncodings

    init(_ manifest: Manifest, _ signature: Signature?, _ mode: Preamble.Mode, _ common: CommonEncodings) {
        self.manifest = manifest
        self.signature = signature
        self.mode = mode
        self.common = common
    }

    /// Whether something of it may come although nobody wants it.
    var isOnItsWay: Bool {
        switch state {
        // Nobody who sends one way waits for a word.
        case .considering: mode == .oneWay
        case .receiving: true
        case .sealing, .over: false
        }
    }

    /// The shipment is welcome.
    ///
    /// - Parameter answer: What of it; all in one-way mode.
    /// - Throws: `ProtocolError.featureNotSupported`; `BrokenInvariant` if it has been accepted already.
    package mutating func accept(_ answer: Answer = .everything) throws {
        guard state == .considering else { throw BrokenInvariant("a shipment is accepted twice") }
        try manifest.checkRequirements()
        let possible = mode == .oneWay ? CommonEncodings.ofVersion : common
        state = .receiving(PartSequence(try possible.wanted(by: answer, of: manifest), common))
    }

    /// - Throws: An error after which the session is over.
    package mutating func receive(_ element: FrameParser.Element) throws(ProtocolError) -> Action? {
        switch (state, element) {
        case (_, .unknownOptionalFrame), (_, .frame(.working)):
            return nil
        case (.considering, .frame(.cancel(let reason))), (.receiving, .frame(.cancel(let reason))):
            state = .over
            return reason.extent == .shipment ? .discard(reason) : .stop(reason)
        case (.receiving(var sequence), .frame(.part(let opening))):
            let encoding = try sequence.admit(opening)
            state = .receiving(sequence)
            return .open(part: Int(opening.part), encoding, position: Int64(clamping: opening.position))
        case (.receiving(var sequence), .frame(.data(let data))):
            try sequence.admit(data)
            state = .receiving(sequence)
            return .append(data.bytes, isLast: data.isLast)
        case (.receiving(let sequence), .frame(.end)):
            guard sequence.isComplete else { throw .incomplete }
            state = .sealing(sequence)
            return .install
        case (_, .frame(let frame)):
            throw .outOfOrder(frame.type.rawValue)
        case (_, .preamble):
            throw .badPreamble
        }
    }

    /// In what else a part of the shipment that has just come could come: nothing in one-way mode, where nobody can be asked.
    package func untried(part index: Int) -> [PartEncoding] {
        guard mode == .twoWay, case .sealing(let sequence) = state else { return [] }
        return sequence.untried(part: index)
    }

    /// These parts did not come to what the manifest says.
    ///
    /// - Returns: What to send, so that they come once more.
    /// - Throws: `BrokenInvariant` before all has come.
    package mutating func ask(for parts: [WantedPart]) throws(BrokenInvariant) -> Answer {
        guard case .sealing(var sequence) = state, !parts.isEmpty else {
            throw BrokenInvariant("parts are asked for again before all have come")
        }
        sequence.want(again: parts)
        state = .receiving(sequence)
        return Answer(again: parts)
    }
}

extension Manifest {
    /// - Throws: `.featureNotSupported` for one that this version does not know, as it does none.
    package func checkRequirements() throws(ProtocolError) {
        if let feature = requires.first { throw .featureNotSupported(feature) }
    }
}
