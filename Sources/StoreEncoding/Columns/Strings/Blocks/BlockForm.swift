/// How the items of blocks become bytes.
///
/// Source: `Protocol/BLOCKS.md` 4.
struct BlockForm: Hashable {
    /// LZ4, or Snappy with as many bits as it has choices.
    let number: Int

    static let lz4 = BlockForm(number: 8)
    static let snappy = (0..<8).map(BlockForm.init)
    static let count = 9

    /// Whether long copies are cut into pieces of 64 bytes, without care for what is left.
    private var areRestsShort: Bool { number & 1 != 0 }
    /// Whether no copy takes two bytes.
    private var isCopyOfThree: Bool { number & 2 != 0 }
    /// Whether literals are cut into pieces whose size is in their tag.
    private var areLiteralsShort: Bool { number & 4 != 0 }
    private static let shortLiterals = 60

    /// - Returns: `nil` if an item cannot be in this form.
    func bytes(of blocks: [[BlockItem]], _ content: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        if self != .lz4 { bytes.appendVarint(UInt64(content.count)) }
        var place = content.startIndex
        for item in blocks.joined() {
            let literals = content[place..<place + item.literals]
            if self == .lz4 {
                guard item.length == 0 || item.length >= 4 else { return nil }
                Self.appendLZ4(literals, item, to: &bytes)
            } else {
                let size = areLiteralsShort ? Self.shortLiterals : max(1, literals.count)
                for piece in literals.pieces(of: size) { Self.appendLiterals(piece, to: &bytes) }
                appendCopies(item, to: &bytes)
            }
            place += item.literals + item.length
        }
        return bytes
    }

    private static func appendLZ4(_ literals: ArraySlice<UInt8>, _ item: BlockItem, to bytes: inout [UInt8]) {
        func appendRest(of length: Int) {
            guard length >= 15 else { return }
            bytes += repeatElement(255, count: (length - 15) / 255)
            bytes.append(UInt8((length - 15) % 255))
        }
        let match = max(0, item.length - 4)
        bytes.append(UInt8(min(15, literals.count) << 4 | min(15, match)))
        appendRest(of: literals.count)
        bytes += literals
        guard item.length > 0 else { return }
        bytes += [UInt8(truncatingIfNeeded: item.distance), UInt8(truncatingIfNeeded: item.distance >> 8)]
        appendRest(of: match)
    }

    private static func appendLiterals(_ literals: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        let last = literals.count - 1
        if last < shortLiterals {
            bytes.append(UInt8(last << 2))
        } else {
            let width = (Int.bitWidth - last.leadingZeroBitCount + 7) / 8
            bytes.append(UInt8((59 + width) << 2))
            bytes += (0..<width).map { UInt8(truncatingIfNeeded: last >> (8 * $0)) }
        }
        bytes += literals
    }

    private func appendCopies(_ item: BlockItem, to bytes: inout [UInt8]) {
        var left = item.length
        while left > 0 {
            let piece = areRestsShort || left >= 68 || left <= 64 ? min(64, left) : 60
            if piece >= 4, piece < 12, item.distance < 2048, !isCopyOfThree {
                bytes.append(UInt8(1 | (piece - 4) << 2 | (item.distance >> 8) << 5))
                bytes.append(UInt8(truncatingIfNeeded: item.distance))
            } else {
                bytes.append(UInt8(2 | (piece - 1) << 2))
                bytes += [UInt8(truncatingIfNeeded: item.distance), UInt8(truncatingIfNeeded: item.distance >> 8)]
            }
            left -= piece
        }
    }
}

extension ArraySlice<UInt8> {
    /// The bytes in pieces of so many; the last may have fewer.
    func pieces(of size: Int) -> [ArraySlice<UInt8>] {
        stride(from: startIndex, to: endIndex, by: size).map { self[$0..<Swift.min($0 + size, endIndex)] }
    }
}
