extension ColumnDecoder {
    /// - Parameters:
    ///   - count: Any number below `SegmentLimits.rows`.
    ///   - refers: Whether the values are those of a whole column.
    func integers(
        _ count: Int, refers: Bool = false, depth: Int = 0, from source: inout SegmentSource
    ) throws(CompressionError) -> [Int64] {
        guard count > 0 else { return [] }
        guard depth < SegmentLimits.depth else { throw .damaged(.segmentLimit) }
        try source.spend(values: count)
        guard let tag = IntegerTag(rawValue: try source.control.byte()) else { throw .damaged(.segment) }
        switch tag {
        case .constant: return [Int64](repeating: try source.control.signed(), count: count)
        case .arithmetic:
            let first = try source.control.signed()
            let step = try source.control.signed()
            return (0..<count).map { first &+ step &* Int64($0) }
        case .varints: return try source.varints(count).map(Int64.init(zigzag:))
        case .deltaVarints: return Self.sums(try source.varints(count))
        case .planes:
            let width = try width(from: &source)
            let base = try source.control.signed()
            let bytes = try source.takeNumbers(count * width, of: count)
            return BytePlanes.values(of: bytes, width: width, count: count).map { base &+ Int64(bitPattern: $0) }
        case .deltaPlanes:
            let width = try width(from: &source)
            let bytes = try source.takeNumbers(count * width, of: count)
            return Self.sums(BytePlanes.values(of: bytes, width: width, count: count))
        case .runs: return try runs(count, depth, from: &source)
        case .packed:
            let bits = Int(try source.control.byte())
            guard bits == 1 || bits == 2 || bits == 4 else { throw .damaged(.segment) }
            let base = try source.control.signed()
            let bytes = try source.takeNumbers(PackedBits.size(count: count, bits: bits), of: count)
            return PackedBits.values(of: bytes, base: base, bits: bits, count: count)
        case .dictionary:
            let number = try source.control.count(limit: count)
            let values = try integers(number, depth: depth + 1, from: &source)
            let places = try integers(count, depth: depth + 1, from: &source)
            guard places.allSatisfy({ $0 >= 0 && $0 < number }) else { throw .damaged(.segment) }
            return places.map { values[Int($0)] }
        case .reference:
            let index = try source.control.count(limit: integerReferences.count)
            guard refers, index < integerReferences.count, let referred = integerReferences[index],
                referred.count == count
            else { throw .damaged(.segment) }
            return zip(try integers(count, depth: depth + 1, from: &source), referred).map { $0 &+ $1 }
        case .following:
            let index = try source.control.count(limit: integerReferences.count)
            guard refers, index < integerReferences.count, let leader = integerReferences[index], leader.count == count
            else { throw .damaged(.segment) }
            var last: [Int64: Int64] = [:]
            return zip(try integers(count, depth: depth + 1, from: &source), leader).map { step, given in
                let value = last[given, default: 0] &+ step
                last[given] = value
                return value
            }
        }
    }

    private func width(from source: inout SegmentSource) throws(CompressionError) -> Int {
        let width = Int(try source.control.byte())
        guard width >= 1, width <= 8 else { throw .damaged(.segment) }
        return width
    }

    private static func sums(_ deltas: [UInt64]) -> [Int64] {
        var last: Int64 = 0
        return deltas.map { delta in
            last &+= Int64(zigzag: delta)
            return last
        }
    }

    private func runs(
        _ count: Int, _ depth: Int, from source: inout SegmentSource
    ) throws(CompressionError) -> [Int64] {
        let number = try source.control.count(limit: count)
        let values = try integers(number, depth: depth + 1, from: &source)
        let lengths = try integers(number, depth: depth + 1, from: &source)
        var expanded: [Int64] = []
        expanded.reserveCapacity(count)
        for (value, length) in zip(values, lengths) {
            guard length >= 0, length < Int64(count - expanded.count) else { throw .damaged(.segment) }
            expanded.append(contentsOf: repeatElement(value, count: Int(length) + 1))
        }
        guard expanded.count == count else { throw .damaged(.segment) }
        return expanded
    }

    /// - Returns: Bit patterns.
    func reals(
        _ count: Int, depth: Int = 0, from source: inout SegmentSource
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
            guard scale < Decimals.powers.count else { throw .damaged(.segment) }
            let power = Decimals.powers[scale]
            return try integers(count, depth: depth + 1, from: &source).map { Decimals.real(of: $0, power: power) }
        case .bytes:
            let bytes = try source.takeNumbers(count * 8, of: count)
            return (0..<count).map { index in
                bytes.dropFirst(index * 8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            }
        }
    }
}
