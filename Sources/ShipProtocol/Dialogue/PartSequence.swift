/// The one order in which the parts of a shipment come: those that are wanted, by rising index, each opened, and opened anew at
/// most until the next one is.
///
/// Source: `Protocol/README.md` section 3.3. Vectors: `stream_*`, `dialogue_*`.
package struct PartSequence: Hashable, Sendable {
    /// What the consumer takes.
    private let common: CommonEncodings
    private var wanted: [WantedPart]
    /// In which encodings each part has been opened so far.
    private var begun: [Int: Set<PartEncoding>] = [:]
    /// Of the wanted parts, the one that is open, or was last.
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
    /// - Returns: How it comes.
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
                throw .badPart(.place)
            }
        }
        let before = begun[wanted[index].index] ?? []
        guard wanted[index].encodings.contains(encoding), !before.contains(encoding) else { throw .badPart(.encoding) }
        guard opening.isAnew != before.isEmpty else { throw .badPart(.anew) }
        let start = before.isEmpty ? wanted[index].start.flatMap { $0.encoding == encoding ? $0 : nil } : nil
        guard opening.position == 0 || opening.position == start.map({ UInt64($0.position) }) else {
            throw .badPart(.position)
        }
        begun[wanted[index].index] = before.union([encoding])
        (current, isOpen) = (index, true)
        return encoding
    }

    /// Takes the next piece of the part that is open.
    ///
    /// - Throws: `.badPart` if none is.
    package mutating func admit(_ data: PartData) throws(ProtocolError) {
        guard isOpen else { throw .badPart(.place) }
        if data.isLast { isOpen = false }
    }

    /// In what else a part could come that has come already, whatever is held.
    package func untried(part index: Int) -> [PartEncoding] {
        common.suiting(part: index).filter { begun[index]?.contains($0) != true }
    }

    /// These parts are to come once more.
    package mutating func want(again parts: [WantedPart]) {
        wanted = parts
        (current, isOpen) = (nil, false)
    }
}

/// A step that this side should never take: a flaw of its own, which is not the other side's breach.
package struct BrokenInvariant: Error, Hashable, Sendable {
    /// For people who mend it.
    package let what: String

    package init(_ what: String) { self.what = what }
}
