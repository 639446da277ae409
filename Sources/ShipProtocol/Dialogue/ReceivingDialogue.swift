/// The consumer's dialogue about one shipment, from its manifest to the receipt or refusal.
///
///     considering -> receiving <-> sealing -> over
///
/// Source: `Protocol/README.md` section 6.2. Vectors: `stream_*`, `dialogue_*`.
package struct ReceivingDialogue: Hashable, Sendable {
    /// The consumer's next step.
    package enum Action: Hashable, Sendable {
        /// Make ready for a part. All its data so far are void, but for those of an earlier session that the stream goes on from.
        ///
        /// - `position`: bytes of the stream that came in an earlier session; 0 for none.
        case open(part: Int, PartEncoding, position: Int64)
        /// Decode this, and write it to the open part.
        case append([UInt8], isLast: Bool)
        /// Tell what the base has in common with the producer's store; nothing is an answer too.
        case compare([UInt8])
        /// All parts are complete: verify and install; or ask for some again, by `ask(for:)`.
        case install
        /// The producer has cancelled this shipment.
        case discard(Reason)
        /// The producer has cancelled the session; send no answer.
        case stop(Reason)
    }

    private enum State: Hashable, Sendable {
        case considering
        case receiving(PartSequence)
        /// All parts are here: the consumer has the last word.
        case sealing(PartSequence)
        case over
    }

    private var state = State.considering
    /// How many more requests about the base may come.
    private var comparisonsLeft = 0
    package let manifest: Manifest
    /// Who claims to have made it: verify that before anything is staged.
    package let signature: Signature?
    private let mode: Preamble.Mode
    private let common: CommonEncodings

    init(_ manifest: Manifest, _ signature: Signature?, _ mode: Preamble.Mode, _ common: CommonEncodings) {
        self.manifest = manifest
        self.signature = signature
        self.mode = mode
        self.common = common
    }

    /// Whether more of it may come although this side does not want it.
    var isOnItsWay: Bool {
        switch state {
        // A one-way producer does not wait for an answer.
        case .considering: mode == .oneWay
        case .receiving: true
        case .sealing, .over: false
        }
    }

    /// The consumer accepts the shipment.
    ///
    /// - Parameter answer: The parts that it wants; all in one-way mode.
    /// - Throws: `ProtocolError.featureNotSupported`; `BrokenInvariant` if it has accepted the shipment already.
    package mutating func accept(_ answer: Answer = .everything) throws {
        guard state == .considering else { throw BrokenInvariant("a shipment is accepted twice") }
        try manifest.checkRequirements()
        let possible = mode == .oneWay ? CommonEncodings.ofVersion : common
        let wanted = try possible.wanted(by: answer, of: manifest)
        if mode == .twoWay, let store = wanted.first, store.index == 0, store.base != nil {
            comparisonsLeft = Limits.comparisons
        }
        state = .receiving(PartSequence(wanted, common))
    }

    /// - Throws: An error after which the session is over.
    package mutating func receive(_ element: FrameParser.Element) throws(ProtocolError) -> Action? {
        switch (state, element) {
        case (_, .unknownOptionalFrame), (_, .frame(.working)):
            return nil
        case (.considering, .frame(.cancel(let reason))), (.receiving, .frame(.cancel(let reason))):
            state = .over
            return reason.scope == .shipment ? .discard(reason) : .stop(reason)
        case (.receiving, .frame(.compare(let request))) where comparisonsLeft > 0:
            comparisonsLeft -= 1
            return .compare(request)
        case (.receiving(var sequence), .frame(.part(let opening))):
            comparisonsLeft = 0
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

    /// Other encodings in which a part that has just come could come again; none in one-way mode.
    package func untried(part index: Int) -> [PartEncoding] {
        guard mode == .twoWay, case .sealing(let sequence) = state else { return [] }
        return sequence.untried(part: index)
    }

    /// These parts do not match the manifest.
    ///
    /// - Returns: The answer to send, so that they come once more.
    /// - Throws: `BrokenInvariant` before all parts have come.
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
    /// - Throws: `.featureNotSupported` for the first required feature: this version knows none.
    package func checkRequirements() throws(ProtocolError) {
        if let feature = requires.first { throw .featureNotSupported(feature) }
    }
}

/// The one order in which the parts of a shipment come: the wanted ones, by rising index. The producer may open a part anew until it
/// opens the next one.
///
/// Source: `Protocol/README.md` section 3.3. Vectors: `stream_*`, `dialogue_*`.
package struct PartSequence: Hashable, Sendable {
    /// The encodings that the consumer supports.
    private let common: CommonEncodings
    private var wanted: [WantedPart]
    /// The encodings in which each part has been opened so far.
    private var begun: [Int: Set<PartEncoding>] = [:]
    /// Index in `wanted` of the open part, or of the last one.
    private var current: Int?
    private var isOpen = false

    package init(_ wanted: [WantedPart], _ common: CommonEncodings) {
        self.wanted = wanted
        self.common = common
    }

    /// Whether nothing is missing.
    package var isComplete: Bool { !isOpen && (current.map { $0 + 1 } ?? 0) == wanted.count }

    /// Opens a part.
    ///
    /// - Returns: The encoding in which it comes.
    /// - Throws: `.encodingNotSupported`, `.badPart` unless it is the next one, or the last one anew.
    package mutating func admit(_ opening: PartOpening) throws(ProtocolError) -> PartEncoding {
        guard let encoding = PartEncoding(rawValue: opening.encoding), common.all.contains(encoding) else {
            throw .encodingNotSupported(opening.encoding)
        }
        let index: Int
        if let current, opening.part == UInt32(wanted[current].index) {
            index = current
        } else {
            index = current.map { $0 + 1 } ?? 0
            guard !isOpen, index < wanted.count, opening.part == UInt32(wanted[index].index) else {
                throw .badPart("it is not in its place")
            }
        }
        let before = begun[wanted[index].index] ?? []
        guard wanted[index].encodings.contains(encoding), !before.contains(encoding) else {
            throw .badPart("its encoding is not wanted, or has been tried")
        }
        guard opening.isAnew != before.isEmpty else { throw .badPart("it begins anew, or does not") }
        let start = before.isEmpty ? wanted[index].start.flatMap { $0.encoding == encoding ? $0 : nil } : nil
        guard opening.position == 0 || opening.position == start.map({ UInt64($0.position) }) else {
            throw .badPart("its position")
        }
        begun[wanted[index].index] = before.union([encoding])
        (current, isOpen) = (index, true)
        return encoding
    }

    /// Takes the next data of the open part.
    ///
    /// - Throws: `.badPart` if none is.
    package mutating func admit(_ data: PartData) throws(ProtocolError) {
        guard isOpen else { throw .badPart("it is not in its place") }
        if data.isLast { isOpen = false }
    }

    /// Other encodings in which a part could come again, without a base.
    package func untried(part index: Int) -> [PartEncoding] {
        common.suiting(part: index).filter { begun[index]?.contains($0) != true }
    }

    /// The consumer wants these parts once more.
    package mutating func want(again parts: [WantedPart]) {
        wanted = parts
        (current, isOpen) = (nil, false)
    }
}
