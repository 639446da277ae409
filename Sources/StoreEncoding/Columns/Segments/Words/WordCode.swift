import ShipCompression

/// Words of literals, and the bytes that stand for them.
///
/// Source: `Protocol/COLUMNS.md` 2, "Words".
struct WordCode {
    /// Words that a byte stands for together with the one after it.
    static let perPair = 255

    /// Bytes that do not stand for themselves, ascending. The last one stands for the byte after it.
    let codes: [UInt8]
    /// How many of them stand for a word alone. The others do together with the byte after them.
    let alone: Int
    /// The words in the order of their codes.
    let words: Strings

    /// What a byte stands for.
    private enum Meaning {
        case itself
        case word(Int)
        /// The first word less 1: the byte after it is 1 or more.
        case pair(Int)
        case next
    }

    private var meanings: [Meaning] {
        var meanings = [Meaning](repeating: .itself, count: 256)
        for (place, code) in codes.enumerated() {
            meanings[Int(code)] = place < alone ? .word(place) : .pair(alone + (place - alone) * Self.perPair - 1)
        }
        if let last = codes.last { meanings[Int(last)] = .next }
        return meanings
    }

    /// The literals to the end of the content: spans of bytes as they are, and of coded bytes, by turns.
    ///
    /// - Parameter limit: The most bytes to make.
    func literals(from content: inout AreaCursor, limit: Int) throws(CompressionError) -> [UInt8] {
        let meanings = meanings
        var literals: [UInt8] = []
        for (index, length) in try content.varints(2 * content.count(limit: SegmentLimits.wordSpans)).enumerated() {
            guard let length = Int(exactly: length) else { throw .damaged(.segment) }
            let span = content.bytes[try content.take(length)]
            if index % 2 == 0 { literals += span } else { try decode(span, meanings, into: &literals, limit) }
        }
        literals += content.bytes[content.offset...]
        guard literals.count <= limit else { throw .damaged(.segment) }
        return literals
    }

    private func decode(
        _ span: ArraySlice<UInt8>, _ meanings: [Meaning], into literals: inout [UInt8], _ limit: Int
    ) throws(CompressionError) {
        var rest = span
        while let byte = rest.popFirst() {
            var word: Int?
            switch meanings[Int(byte)] {
            case .itself: literals.append(byte)
            case .word(let number): word = number
            case .pair(let before):
                guard let second = rest.popFirst(), second > 0 else { throw .damaged(.segment) }
                word = before + Int(second)
            case .next:
                guard let next = rest.popFirst() else { throw .damaged(.segment) }
                literals.append(next)
            }
            if let word {
                guard word < words.count, literals.count + words[word].count <= limit else { throw .damaged(.segment) }
                literals += words[word]
            }
        }
    }
}

extension WordCode {
    /// Takes it from the content, where it stands before the literals.
    init(from content: inout AreaCursor, _ work: DecodingWork) throws(CompressionError) {
        let bits = Array(content.bytes[try content.take(32)])
        codes = (0...UInt8.max).filter { bits[Int($0) / 8] >> ($0 % 8) & 1 == 1 }
        alone = Int(try content.byte())
        let prefixes = try content.varints(content.count(limit: SegmentLimits.words))
        guard alone < codes.count else { throw .damaged(.segment) }
        var words = Strings()
        // Not a slice of the words: each that follows would copy them all.
        var last: [UInt8] = []
        for prefix in prefixes {
            let rest = content.bytes[try content.takeToNul()]
            guard prefix <= UInt64(last.count) else { throw .damaged(.segment) }
            let size = Int(prefix) + rest.count
            guard words.bytes.count + size <= SegmentLimits.wordBytes else { throw .damaged(.segmentLimit) }
            try work.spend(DecodingWork.encoding + size)
            last.replaceSubrange(Int(prefix)..., with: rest)
            words.append(last)
        }
        self.words = words
    }

    func write(to content: inout [UInt8]) {
        var bits = [UInt8](repeating: 0, count: 32)
        for code in codes { bits[Int(code) / 8] |= 1 << (code % 8) }
        content += bits
        content.append(UInt8(alone))
        content.appendVarint(UInt64(words.count))
        let prefixes = (0..<words.count).map { $0 == 0 ? 0 : words.commonPrefix($0 - 1, $0) }
        for prefix in prefixes { content.appendVarint(UInt64(prefix)) }
        for (index, prefix) in prefixes.enumerated() { content += words[index].dropFirst(prefix) + [0] }
    }
}
