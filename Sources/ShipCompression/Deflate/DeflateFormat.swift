/// The meaning of the codes of a deflate stream.
///
/// Source: RFC 1951 sections 3.2.5 to 3.2.7.
package enum DeflateFormat {
    /// 256 bytes, the end of a block, and 29 lengths of matches.
    static let symbols = 286
    static let endOfBlock = 256
    static let firstLength = 257
    static let distances = 30
    static let longestCode = 15
    /// The longest code of the alphabet in which a block gives the lengths of its codes.
    static let longestLengthCode = 7
    /// Bytes in one stored block.
    static let longestStored = 65_535

    /// How far a match reaches back, in bytes.
    package static let window = 32_768
    static let shortestMatch = 3
    static let longestMatch = 258

    /// The least length of each length code, and the bits that follow it.
    static let lengths: [(base: Int, extra: Int)] = (0..<29).map { code in
        if code == 28 { return (258, 0) }
        let extra = code < 8 ? 0 : code / 4 - 1
        return (code < 8 ? code + 3 : (4 + code % 4) << extra + 3, extra)
    }

    static let lengthCodes = (shortestMatch...longestMatch).map { length in
        UInt8(lengths.lastIndex { $0.base <= length && length - $0.base < 1 << $0.extra } ?? 0)
    }

    /// The bits that follow each distance code.
    static let distanceExtra = (0..<distances).map { code in code < 4 ? 0 : code / 2 - 1 }

    /// - Parameter distance: 1-32,768.
    @inline(__always)
    static func distanceCode(_ distance: Int) -> Int {
        let far = distance &- 1
        // From the fifth distance on, each two codes have one more bit behind them than the two before.
        let extra = max(0, Int.bitWidth &- 2 &- far.leadingZeroBitCount)
        return 2 &* extra &+ far &>> extra
    }

    /// The order of the lengths of that alphabet's codes.
    static let lengthCodeOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    static let fixedSymbols = (0..<288).map { UInt8($0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8) }
    static let fixedDistances = [UInt8](repeating: 5, count: distances)
}

extension UnsafeRawPointer {
    /// How many bytes are equal from here and from there on.
    ///
    /// - Parameters:
    ///   - known: So many are.
    ///   - most: More do not count.
    @inline(__always)
    package func commonLength(with there: UnsafeRawPointer, from known: Int, atMost most: Int) -> Int {
        var length = known
        while length &+ 8 <= most {
            let difference =
                loadUnaligned(fromByteOffset: length, as: UInt64.self)
                ^ there.loadUnaligned(fromByteOffset: length, as: UInt64.self)
            if difference != 0 { return length &+ difference.littleEndian.trailingZeroBitCount / 8 }
            length &+= 8
        }
        while length < most,
            load(fromByteOffset: length, as: UInt8.self) == there.load(fromByteOffset: length, as: UInt8.self)
        {
            length &+= 1
        }
        return length
    }
}
