extension ValueKind {
    /// Blocks of LZ4 and Snappy, and frames that hold them.
    static let blocks = [
        ValueKind("LZ4", "BLOB") { choices in
            // As Mozilla writes them: a marker, and the size of the content.
            let isMarked = choices.chance(50)
            return { choices, place in
                let content = content(choices, place)
                let head = isMarked ? Array("mozLz40\0".utf8) + size(content, 4) : []
                return .blob(head + matches(in: content).reduce(into: []) { lz4($1, content, &$0) })
            }
        },
        ValueKind("Snappy", "BLOB") { _ in
            { choices, place in
                let content = content(choices, place)
                var (bytes, rest) = ([UInt8](), content.count)
                repeat {
                    bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
                    rest >>= 7
                } while rest > 0
                return .blob(matches(in: content).reduce(into: bytes) { snappy($1, content, &$0) })
            }
        },
    ]

    /// Bytes as they are, and then, unless it is the last, a copy of bytes before.
    private typealias Sequence = (literals: Range<Int>, distance: Int, length: Int)

    /// A greedy search, of hashes of four bytes.
    private static func matches(in content: [UInt8]) -> [Sequence] {
        var (found, last) = ([Sequence](), [UInt32: Int]())
        var (start, place) = (0, 0)
        // The last five bytes are literals [lz4_Block_format.md, end of block conditions].
        while place + 12 < content.count {
            let key = content[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
            if let earlier = last[key], place - earlier < 1 << 16 {
                var length = 4
                while place + length + 5 < content.count, content[earlier + length] == content[place + length] {
                    length += 1
                }
                found.append((start..<place, place - earlier, length))
                place += length
                start = place
            } else {
                last[key] = place
                place += 1
            }
        }
        return found + [(start..<content.count, 0, 0)]
    }

    private static func size(_ content: [UInt8], _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: content.count >> (8 * $0)) }
    }

    private static func lz4(_ sequence: Sequence, _ content: [UInt8], _ bytes: inout [UInt8]) {
        func more(_ length: Int) -> [UInt8] {
            length < 15 ? [] : [UInt8](repeating: 255, count: (length - 15) / 255) + [UInt8((length - 15) % 255)]
        }
        let (literals, match) = (sequence.literals.count, max(0, sequence.length - 4))
        bytes.append(UInt8(min(15, literals) << 4 | min(15, match)))
        bytes += more(literals) + content[sequence.literals]
        guard sequence.distance > 0 else { return }
        bytes += [UInt8(sequence.distance & 0xFF), UInt8(sequence.distance >> 8)] + more(match)
    }

    private static func snappy(_ sequence: Sequence, _ content: [UInt8], _ bytes: inout [UInt8]) {
        var literals = sequence.literals
        while !literals.isEmpty {
            let piece = literals.prefix(1 << 16)
            let length = piece.count - 1
            bytes +=
                length < 60
                ? [UInt8(length << 2)]
                : length < 256 ? [60 << 2, UInt8(length)] : [61 << 2, UInt8(length & 0xFF), UInt8(length >> 8)]
            bytes += content[piece]
            literals = literals.dropFirst(piece.count)
        }
        var left = sequence.length
        while left > 0 {
            let length = min(64, left)
            bytes += [UInt8((length - 1) << 2 | 2), UInt8(sequence.distance & 0xFF), UInt8(sequence.distance >> 8)]
            left -= length
        }
    }
}
