extension ValueKind {
    /// Blocks of LZ4 and Snappy, and frames that hold them.
    static let blocks = [
        ValueKind("LZ4", "BLOB") { choices in
            let way = BlockMaking(choices, ofLZ4: true)
            let wrapper = choices.below(4)
            return { choices, place in
                let content = content(choices, place)
                let block = way.lz4(content)
                switch wrapper {
                // As Mozilla writes them: a marker, and the size of the content.
                case 0: return .blob(Array("mozLz40\0".utf8) + size(content, 4) + block)
                case 1: return .blob(size(content, 4) + block)
                // A frame of one block: its flags tell the size of the content, and their checksum is any byte.
                case 2:
                    let head = [0x04, 0x22, 0x4d, 0x18, 0x68, 0x40] + size(content, 8) + [UInt8(choices.below(256))]
                    return .blob(head + size(block, 4) + block + [0, 0, 0, 0])
                default: return .blob(block)
                }
            }
        },
        ValueKind("Snappy", "BLOB") { choices in
            let way = BlockMaking(choices, ofLZ4: false)
            let head = choices.chance(20) ? [UInt8(choices.below(256))] : []
            return { choices, place in .blob(head + way.snappy(content(choices, place))) }
        },
        ValueKind("blocks of any way", "BLOB") { _ in
            { choices, place in
                let isLZ4 = choices.chance(50)
                let way = BlockMaking(choices, ofLZ4: isLZ4)
                let content = content(choices, place)
                var block = isLZ4 ? way.lz4(content) : way.snappy(content)
                if choices.chance(10) { block[choices.below(block.count)] ^= UInt8(1 << choices.below(8)) }
                return .blob(block)
            }
        },
    ]

    private static func size(_ content: [UInt8], _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: content.count >> (8 * $0)) }
    }
}

/// A way in which somebody's compressor makes blocks: it goes through the bytes once, and takes the first match that its table leads to.
package struct BlockMaking {
    /// Bytes as they are, and then, unless it is the last, a copy of bytes before.
    private typealias Sequence = (literals: Range<Int>, distance: Int, length: Int)

    private enum Entered: CaseIterable {
        case nothing
        case all
        case nearEnd
    }

    /// How many bits a hash has; `nil` for one that tells all bytes apart.
    private let bits: UInt32?
    private let entered: Entered
    /// Whether a position goes into the table only if it led to nothing.
    private let isLazy: Bool
    /// After how many vain positions the steps grow; 0 for never.
    private let patience: Int
    private let goesBack: Bool
    /// The longest match.
    private let longest: Int
    private let margin: Int
    private let unmatched: Int
    private let hasShortCopies: Bool
    private let literalPiece: Int

    package init(_ choices: Choices, ofLZ4 isLZ4: Bool) {
        bits = choices.chance(40) ? nil : UInt32(choices.number(in: 8...16))
        entered = choices.pick(Entered.allCases)
        isLazy = choices.chance(20)
        patience = choices.pick([0, 0, 32, 64])
        goesBack = choices.chance(30)
        longest = choices.pick([.max, .max, 64])
        // The last five bytes of LZ4 are literals [lz4_Block_format.md, end of block conditions].
        (margin, unmatched) = isLZ4 ? (12, 5) : choices.pick([(4, 0), (15, 0), (12, 5)])
        hasShortCopies = choices.chance(60)
        literalPiece = choices.pick([1 << 16, 60])
    }

    private func matches(in content: [UInt8]) -> [Sequence] {
        var (found, table) = ([Sequence](), [UInt32: Int]())
        var (start, place, vain) = (0, 0, 0)
        func entry(_ place: Int) -> UInt32 {
            let key = content[place..<place + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
            return bits.map { (key &* 0x1e35_a7bd) >> (32 - $0) } ?? key
        }
        while place + margin <= content.count {
            let candidate = table[entry(place)]
            if candidate == nil || !isLazy { table[entry(place)] = place }
            guard var earlier = candidate, place - earlier < 1 << 16,
                content[earlier..<earlier + 4] == content[place..<place + 4]
            else {
                vain += 1
                place += patience > 0 ? 1 + vain / patience : 1
                continue
            }
            var (begin, end) = (place, place + 4)
            while end - begin < longest, end + unmatched < content.count,
                content[earlier + end - begin] == content[end]
            {
                end += 1
            }
            while goesBack, begin > start, earlier > 0, content[begin - 1] == content[earlier - 1] {
                (begin, earlier) = (begin - 1, earlier - 1)
            }
            found.append((start..<begin, begin - earlier, end - begin))
            let inner = entered == .all ? place + 1..<end : entered == .nearEnd ? end - 1..<end : end..<end
            for place in inner where place + 4 <= content.count { table[entry(place)] = place }
            (start, place, vain) = (end, end, 0)
        }
        return found + [(start..<content.count, 0, 0)]
    }

    /// The block of some content.
    package func lz4(_ content: [UInt8]) -> [UInt8] {
        func more(_ length: Int) -> [UInt8] {
            length < 15 ? [] : [UInt8](repeating: 255, count: (length - 15) / 255) + [UInt8((length - 15) % 255)]
        }
        return matches(in: content).flatMap { sequence -> [UInt8] in
            let (literals, match) = (sequence.literals.count, max(0, sequence.length - 4))
            let head = [UInt8(min(15, literals) << 4 | min(15, match))] + more(literals) + content[sequence.literals]
            guard sequence.distance > 0 else { return head }
            return head + [UInt8(sequence.distance & 0xFF), UInt8(sequence.distance >> 8)] + more(match)
        }
    }

    /// The block of some content.
    package func snappy(_ content: [UInt8]) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), content.count)
        repeat {
            bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        return matches(in: content).reduce(into: bytes) { append($1, of: content, to: &$0) }
    }

    private func append(_ sequence: Sequence, of content: [UInt8], to bytes: inout [UInt8]) {
        var literals = sequence.literals
        while !literals.isEmpty {
            let piece = literals.prefix(literalPiece)
            let length = piece.count - 1
            bytes +=
                length < 60
                ? [UInt8(length << 2)]
                : length < 256 ? [60 << 2, UInt8(length)] : [61 << 2, UInt8(length & 0xFF), UInt8(length >> 8)]
            bytes += content[piece]
            literals = literals.dropFirst(literalPiece)
        }
        var left = sequence.length
        while left > 0 {
            let length = hasShortCopies && left > 64 && left < 68 ? 60 : min(64, left)
            let (low, high) = (UInt8(sequence.distance & 0xFF), sequence.distance >> 8)
            bytes +=
                hasShortCopies && length >= 4 && length < 12 && high < 8
                ? [UInt8(1 | (length - 4) << 2 | high << 5), low] : [UInt8((length - 1) << 2 | 2), low, UInt8(high)]
            left -= length
        }
    }
}
