import ShipCompression

/// The first byte of reals: their encoding.
///
/// Source: `Protocol/COLUMNS.md` 2, "Reals(n)".
enum RealTag: UInt8 {
    case bits = 0
    case xor = 1
    case decimal = 2
    case bytes = 3
}

extension ColumnEncoder {
    /// Writes the tag and the reals, which are given as bit patterns; nothing for none.
    func encode(reals: [UInt64], depth: Int = 0, into areas: inout SegmentAreas) {
        guard !reals.isEmpty else { return }
        let scale = RealTag.decimalScale(of: reals)
        var candidates: [RealTag] = [.bits]
        if reals.count >= SegmentLimits.smallColumn { candidates.append(.xor) }
        if scale != nil { candidates.append(.decimal) }
        candidates.append(.bytes)
        guard reals.count > effort.sampleCount else {
            if let best = cheapest(of: candidates, write: { write($0, reals, scale, depth, &$1) }) {
                areas.append(best)
            }
            return
        }
        let sample = reals.sampled(effort.sampleCount)
        for tag in ranked(
            candidates, by: sample.count, of: reals.count, write: { write($0, sample, scale, depth, &$1) })
        {
            var trial = SegmentAreas()
            if write(tag, reals, scale, depth, &trial) {
                areas.append(trial)
                return
            }
        }
    }

    private func write(
        _ tag: RealTag, _ reals: [UInt64], _ scale: Int?, _ depth: Int, _ areas: inout SegmentAreas
    ) -> Bool {
        areas.tag(tag.rawValue)
        switch tag {
        case .bits: encode(reals.map(Int64.init(bitPattern:)), depth: depth + 1, into: &areas)
        case .xor:
            var last: UInt64 = 0
            let steps = reals.map { bits in
                defer { last = bits }
                return Int64(bitPattern: bits ^ last)
            }
            encode(steps, depth: depth + 1, into: &areas)
        case .decimal:
            guard let scale, let numbers = RealTag.decimals(of: reals, scale: scale) else { return false }
            areas.tag(UInt8(scale))
            encode(numbers, depth: depth + 1, into: &areas)
        case .bytes:
            var bytes: [UInt8] = []
            bytes.reserveCapacity(reals.count * 8)
            for bits in reals {
                for shift in stride(from: UInt64(56), through: 0, by: -8) {
                    bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
                }
            }
            areas.appendNumbers(bytes, of: reals.count)
        }
        return true
    }
}

extension ColumnDecoder {
    /// - Returns: Bit patterns.
    func reals(
        _ count: Int, depth: Int = 0, from source: inout SegmentReader
    ) throws(CompressionError) -> [UInt64] {
        guard count > 0 else { return [] }
        guard let tag = RealTag(rawValue: try source.control.byte()) else { throw .damaged(.segment) }
        switch tag {
        case .bits: return try integers(count, depth: depth + 1, from: &source).map(UInt64.init(bitPattern:))
        case .xor:
            var last: UInt64 = 0
            return try integers(count, depth: depth + 1, from: &source).map { step in
                last ^= UInt64(bitPattern: step)
                return last
            }
        case .decimal:
            let scale = Int(try source.control.byte())
            guard scale < RealTag.powers.count else { throw .damaged(.segment) }
            let power = RealTag.powers[scale]
            return try integers(count, depth: depth + 1, from: &source).map { RealTag.real(of: $0, power: power) }
        case .bytes:
            let bytes = try source.takeNumbers(count * 8, of: count)
            return (0..<count).map { index in
                bytes.dropFirst(index * 8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            }
        }
    }
}

/// Reals that are the nearest to a decimal fraction.
extension RealTag {
    /// Powers of ten up to 10^22 are exact in binary floating point.
    fileprivate static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
    /// 2^53: up to here each integer is a real.
    private static let decimalLimit = 9_007_199_254_740_992.0

    /// - Returns: The fewest decimal places with which the first reals can be written; `nil` if none suffice.
    fileprivate static func decimalScale(of reals: [UInt64]) -> Int? {
        let sample = Array(reals.prefix(64))
        return powers.indices.first { decimals(of: sample, scale: $0) != nil }
    }

    fileprivate static func decimals(of reals: [UInt64], scale: Int) -> [Int64]? {
        var numbers: [Int64] = []
        numbers.reserveCapacity(reals.count)
        let power = powers[scale]
        for bits in reals {
            let number = (Double(bitPattern: bits) * power).rounded()
            guard abs(number) < decimalLimit, real(of: Int64(number), power: power) == bits else { return nil }
            numbers.append(Int64(number))
        }
        return numbers
    }

    /// - Returns: The bit pattern of `number / power`, rounded as IEEE 754 does.
    fileprivate static func real(of number: Int64, power: Double) -> UInt64 { (Double(number) / power).bitPattern }
}
