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

    /// The literals to the end of the content: runs of bytes as they are, and of bytes that stand for words, by turns.
    ///
    /// - Parameter limit: The most bytes to make.
    func literals(from content: inout AreaCursor, limit: Int) throws(CompressionError) -> [UInt8] {
        let spans = try content.varints(2 * content.count(limit: SegmentLimits.wordSpans))
        var (coded, at) = ([Range<Int>](), 0)
        for (index, length) in spans.enumerated() {
            guard let length = Int(exactly: length) else { throw .damaged(.segment) }
            at = index == 0 ? content.offset : at
            guard length <= content.bytes.count - at else { throw .damaged(.segment) }
            if index % 2 == 1 { coded.append(at..<at + length) }
            at += length
        }
        let bytes = content.bytes[try content.take(content.left)]
        var isSound = true
        let literals = [UInt8](unsafeUninitializedCapacity: limit) { literals, count in
            isSound = decode(bytes, coded, into: literals, &count)
        }
        guard isSound else { throw .damaged(.segment) }
        return literals
    }

    private func decode(
        _ bytes: ArraySlice<UInt8>, _ coded: [Range<Int>], into literals: UnsafeMutableBufferPointer<UInt8>,
        _ count: inout Int
    ) -> Bool {
        let meanings = meanings
        var at = bytes.startIndex
        func put(_ bytes: ArraySlice<UInt8>) -> Bool {
            guard bytes.count <= literals.count - count else { return false }
            for byte in bytes {
                literals.initializeElement(at: count, to: byte)
                count += 1
            }
            return true
        }
        for span in coded + [bytes.endIndex..<bytes.endIndex] {
            guard put(bytes[at..<span.lowerBound]) else { return false }
            at = span.lowerBound
            while at < span.upperBound {
                let isLast = at + 1 == span.upperBound
                let isPut: Bool
                switch meanings[Int(bytes[at])] {
                case .itself: isPut = put(bytes[at...at])
                case .word(let word): isPut = word < words.count && put(words[word])
                case .pair(let before):
                    guard !isLast, bytes[at + 1] > 0 else { return false }
                    let word = before + Int(bytes[at + 1])
                    isPut = word < words.count && put(words[word])
                    at += 1
                case .next:
                    guard !isLast else { return false }
                    isPut = put(bytes[at + 1...at + 1])
                    at += 1
                }
                guard isPut else { return false }
                at += 1
            }
        }
        return true
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
        for prefix in prefixes {
            let last = words.count > 0 ? words[words.count - 1] : []
            let rest = content.bytes[try content.takeToNul()]
            guard prefix <= UInt64(last.count) else { throw .damaged(.segment) }
            let size = Int(prefix) + rest.count
            guard words.bytes.count + size <= SegmentLimits.wordBytes else { throw .damaged(.segmentLimit) }
            try work.spend(DecodingWork.encoding + size)
            words.append(Array(last.prefix(Int(prefix))) + rest)
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
