import ShipCompression

/// The first byte of reals: their encoding.
///
/// Source: `Protocol/COLUMNS.md` 2, "Reals(n)".
enum RealTag: UInt8 {
    case bits = 0
    case xor = 1
    case decimal = 2
    case bytes = 3
    case mostlyDecimal = 4
}

extension ColumnEncoder {
    /// Writes the tag and the reals, which are given as bit patterns; nothing for none.
    func encode(reals: [UInt64], depth: Int = 0, into areas: inout SegmentAreas) {
        guard !reals.isEmpty else { return }
        let scales = DecimalScales(of: reals)
        var candidates: [(tag: RealTag, scale: Int)] = [(.bits, 0)]
        if reals.count >= SegmentLimits.smallColumn { candidates.append((.xor, 0)) }
        if let scale = scales.all { candidates.append((.decimal, scale)) }
        if let scale = scales.most, depth < Self.deepestMostlyDecimal { candidates.append((.mostlyDecimal, scale)) }
        candidates.append((.bytes, 0))
        let writeAll = { (candidate: (tag: RealTag, scale: Int), areas: inout SegmentAreas) in
            write(candidate.tag, reals, candidate.scale, depth, &areas)
        }
        guard reals.count > effort.sampleCount else {
            if let best = cheapest(of: candidates, write: writeAll) { areas.append(best) }
            return
        }
        let sample = reals.sampled(effort.sampleCount)
        candidates = ranked(candidates, by: sample.count, of: reals.count) { candidate, areas in
            write(candidate.tag, sample, candidate.scale, depth, &areas)
        }
        if let first = first(of: candidates, write: writeAll) { areas.append(first) }
    }

    /// The reals that are no such decimals are encoded as reals are, and those of them that are not in turn.
    private static let deepestMostlyDecimal = 4

    private func write(
        _ tag: RealTag, _ reals: [UInt64], _ scale: Int, _ depth: Int, _ areas: inout SegmentAreas
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
            let split = DecimalSplit(of: reals, scale: scale)
            guard split.others.isEmpty else { return false }
            areas.tag(UInt8(scale))
            encode(split.numbers, depth: depth + 1, into: &areas)
        case .mostlyDecimal:
            let split = DecimalSplit(of: reals, scale: scale)
            areas.tag(UInt8(scale))
            areas.count(split.others.count)
            encode(split.gaps, depth: depth + 1, into: &areas)
            encode(split.numbers, depth: depth + 1, into: &areas)
            encode(reals: split.others, depth: depth + 1, into: &areas)
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
    func reals(_ count: Int, depth: Int = 0, from source: inout SegmentReader) throws(CompressionError) -> [UInt64] {
        guard count > 0 else { return [] }
        guard depth < SegmentLimits.depth else { throw .damaged(.segmentLimit) }
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
            let power = try power(from: &source)
            return try integers(count, depth: depth + 1, from: &source).map { DecimalScales.real(of: $0, power) }
        case .mostlyDecimal:
            let power = try power(from: &source)
            let others = try source.control.count(limit: count)
            let gaps = try integers(others, depth: depth + 1, from: &source)
            var numbers = try integers(count - others, depth: depth + 1, from: &source)[...]
            var all: [UInt64] = []
            all.reserveCapacity(count)
            for (gap, other) in zip(gaps, try reals(others, depth: depth + 1, from: &source)) {
                guard gap >= 0, gap <= numbers.count else { throw .damaged(.segment) }
                all += numbers.prefix(Int(gap)).map { DecimalScales.real(of: $0, power) }
                all.append(other)
                numbers = numbers.dropFirst(Int(gap))
            }
            return all + numbers.map { DecimalScales.real(of: $0, power) }
        case .bytes:
            let bytes = try source.takeNumbers(count * 8, of: count)
            return (0..<count).map { index in
                bytes.dropFirst(index * 8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            }
        }
    }

    private func power(from source: inout SegmentReader) throws(CompressionError) -> Double {
        let scale = Int(try source.control.byte())
        guard scale < DecimalScales.powers.count else { throw .damaged(.segment) }
        return DecimalScales.powers[scale]
    }
}
