import ShipCompression

/// The first byte of integers: their encoding.
///
/// Source: `Protocol/COLUMNS.md` 2, "Integers(n)".
enum IntegerTag: UInt8 {
    case constant = 0
    case arithmetic = 1
    case varints = 2
    case deltaVarints = 3
    /// A byte-stream split, after the least value.
    case planes = 4
    /// A byte-stream split of the steps.
    case deltaPlanes = 5
    case runs = 6
    case packed = 7
    case dictionary = 8
    /// The difference to an earlier column.
    case reference = 9
    /// The difference to the last value in a row where an earlier column has the same value.
    case following = 10
}

extension ColumnEncoder {
    /// Writes the tag and the values; nothing for no values.
    ///
    /// - Parameter refers: Whether the values are those of a column that all rows have, so that they may refer to earlier ones.
    func encode(_ values: [Int64], refers: Bool = false, depth: Int = 0, into areas: inout SegmentAreas) {
        guard let facts = IntegerFacts(values) else { return }
        if facts.isConstant || facts.isArithmetic {
            areas.tag((facts.isConstant ? IntegerTag.constant : .arithmetic).rawValue)
            areas.signed(values[0])
            if !facts.isConstant { areas.signed(values[1] &- values[0]) }
            return
        }
        let references = refers ? usefulReferences(for: values, facts) : []
        if let exact = references.first(where: { $0.isConstant }) {
            write(.reference, values, facts, exact.index, depth, &areas)
            return
        }
        var candidates = facts.candidates(depth: depth).map { ($0, 0) }
        candidates += references.map { (.reference, $0.index) }
        if refers, let leader = usefulLeader(for: values, facts) { candidates.append((.following, leader)) }
        if values.count > effort.sampleCount {
            // References are to the same rows: a sample of the values needs the same sample of what they refer to.
            let sample = values.sampled(effort.sampleCount)
            guard let sampleFacts = IntegerFacts(sample) else { return }
            candidates = ranked(candidates, by: sample.count, of: values.count) { candidate, areas in
                if candidate.0 == .reference, let reference = integerReferences[candidate.1] {
                    let differences = zip(sample, reference.sampled(effort.sampleCount)).map { $0 &- $1 }
                    encode(differences, depth: depth + 1, into: &areas)
                    return true
                }
                if candidate.0 == .following, let leader = integerClasses[candidate.1] {
                    let steps = Self.steps(of: values, after: leader).sampled(effort.sampleCount)
                    encode(steps, depth: depth + 1, into: &areas)
                    return true
                }
                return write(candidate.0, sample, sampleFacts, 0, depth, &areas)
            }
        } else if let best = cheapest(of: candidates, write: { write($0.0, values, facts, $0.1, depth, &$1) }) {
            areas.append(best)
            return
        }
        if let first = first(of: candidates, write: { write($0.0, values, facts, $0.1, depth, &$1) }) {
            areas.append(first)
            return
        }
        _ = write(.varints, values, facts, 0, depth, &areas)
    }

    /// - Returns: Whether the encoding can hold the values; if not, `areas` are of no use.
    @discardableResult
    private func write(
        _ tag: IntegerTag, _ values: [Int64], _ facts: IntegerFacts, _ reference: Int, _ depth: Int,
        _ areas: inout SegmentAreas
    ) -> Bool {
        areas.tag(tag.rawValue)
        let count = values.count
        switch tag {
        case .constant, .arithmetic: return false
        case .varints:
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count * 2)
            for value in values { bytes.appendVarint(value.zigzag) }
            areas.appendNumbers(bytes, of: count)
        case .deltaVarints:
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count * 2)
            var last: Int64 = 0
            for value in values {
                bytes.appendVarint((value &- last).zigzag)
                last = value
            }
            areas.appendNumbers(bytes, of: count)
        case .planes:
            let width = UInt64(bitPattern: facts.maximum &- facts.minimum).byteWidth
            areas.tag(UInt8(width))
            areas.signed(facts.minimum)
            let offsets = values.map { UInt64(bitPattern: $0 &- facts.minimum) }
            areas.appendNumbers(offsets.splitIntoByteStreams(width: width), of: count)
        case .deltaPlanes:
            var last: Int64 = 0
            var largest: UInt64 = 0
            let deltas = values.map { value in
                defer { last = value }
                let delta = (value &- last).zigzag
                largest |= delta
                return delta
            }
            let width = largest.byteWidth
            areas.tag(UInt8(width))
            areas.appendNumbers(deltas.splitIntoByteStreams(width: width), of: count)
        case .runs:
            let (runs, lengths) = Self.runs(of: values)
            guard runs.count < count else { return false }
            areas.count(runs.count)
            encode(runs, depth: depth + 1, into: &areas)
            encode(lengths.map { $0 - 1 }, depth: depth + 1, into: &areas)
        case .packed:
            guard let bits = facts.packedBits else { return false }
            areas.tag(UInt8(bits))
            areas.signed(facts.minimum)
            areas.appendNumbers(values.packed(base: facts.minimum, bits: bits), of: count)
        case .dictionary:
            guard let (distinct, places) = Self.dictionary(of: values) else { return false }
            areas.count(distinct.count)
            encode(distinct, depth: depth + 1, into: &areas)
            encode(places, depth: depth + 1, into: &areas)
        case .reference:
            guard let referred = integerReferences[reference], referred.count == count else { return false }
            areas.count(reference)
            encode(zip(values, referred).map { $0 &- $1 }, depth: depth + 1, into: &areas)
        case .following:
            guard let leader = integerClasses[reference], leader.ids.count == count else { return false }
            areas.count(reference)
            encode(Self.steps(of: values, after: leader), depth: depth + 1, into: &areas)
        }
        return true
    }

    /// Runs of equal values, and how long each is.
    private static func runs(of values: [Int64]) -> (values: [Int64], lengths: [Int64]) {
        var (runs, lengths): ([Int64], [Int64]) = ([], [])
        for value in values {
            if value == runs.last {
                lengths[lengths.count - 1] += 1
            } else {
                runs.append(value)
                lengths.append(1)
            }
        }
        return (runs, lengths)
    }

    /// The distinct values, rising, and for each value its place among them; `nil` if fewer than half of them come up again.
    private static func dictionary(of values: [Int64]) -> (distinct: [Int64], places: [Int64])? {
        let most = values.count / 2
        var slotCount = 64
        while slotCount < most * 2 { slotCount *= 2 }
        var slots = [Int32](repeating: -1, count: slotCount)
        var found: [Int64] = []
        var ids: [Int32] = []
        ids.reserveCapacity(values.count)
        let key = ColumnValues.hashKey
        for value in values {
            let hash = ColumnValues.mixed(UInt64(bitPattern: value) ^ key)
            var slot = Int(truncatingIfNeeded: hash &>> 40) & (slotCount - 1)
            while slots[slot] >= 0, found[Int(slots[slot])] != value { slot = (slot + 1) & (slotCount - 1) }
            if slots[slot] < 0 {
                guard found.count < most else { return nil }
                slots[slot] = Int32(found.count)
                found.append(value)
            }
            ids.append(slots[slot])
        }
        let order = found.indices.sorted { found[$0] < found[$1] }
        var places = [Int64](repeating: 0, count: found.count)
        for (place, index) in order.enumerated() { places[index] = Int64(place) }
        return (order.map { found[$0] }, ids.map { places[Int($0)] })
    }

    /// The difference of each value to the last one in a row with the same leader, or to 0.
    private static func steps(of values: [Int64], after leader: DistinctValues) -> [Int64] {
        var last = [Int64](repeating: 0, count: leader.count)
        return zip(values, leader.ids).map { value, id in
            defer { last[Int(id)] = value }
            return value &- last[Int(id)]
        }
    }

    /// The earlier column of integers, the leader, by which the values take the smallest steps: each from the last value in a row with the
    /// same leader. `nil` if no steps are smaller than the values and than their own steps.
    private func usefulLeader(for values: [Int64], _ facts: IntegerFacts) -> Int? {
        guard values.count >= 64 else { return nil }
        let rows = min(values.count, 2048)
        var best: (index: Int, bits: Int)?
        for (index, leader) in integerClasses.withinReach {
            guard let leader, leader.count * 4 < values.count else { continue }
            var last = [Int64](repeating: 0, count: leader.count)
            var bits = 0
            for row in 0..<rows {
                let id = Int(leader.ids[row])
                bits += 64 - (values[row] &- last[id]).zigzag.leadingZeroBitCount
                last[id] = values[row]
            }
            if bits < best?.bits ?? (rows * min(facts.meanBits, facts.meanDeltaBits)) { best = (index, bits) }
        }
        return best?.index
    }

    /// Earlier columns whose difference to the values is constant, or takes fewer bits than the values and their steps.
    private func usefulReferences(for values: [Int64], _ facts: IntegerFacts) -> [(index: Int, isConstant: Bool)] {
        var useful: [(index: Int, isConstant: Bool, bits: Int)] = []
        let stride = max(1, values.count / 256)
        let rowids = integerReferences.count > Self.reach ? [0] : []
        for index in rowids + integerReferences.withinReach.map(\.index) {
            guard let referred = integerReferences[index], referred.count == values.count else { continue }
            let first = values[0] &- referred[0]
            if values[values.count - 1] &- referred[values.count - 1] == first,
                zip(values, referred).allSatisfy({ $0 &- $1 == first })
            {
                return [(index, true)]
            }
            guard values.count >= SegmentLimits.smallColumn else { continue }
            var bits = 0
            var number = 0
            for row in Swift.stride(from: 0, to: values.count, by: stride) {
                bits += 64 - (values[row] &- referred[row]).zigzag.leadingZeroBitCount
                number += 1
            }
            if bits < number * min(facts.meanBits, facts.meanDeltaBits) { useful.append((index, false, bits)) }
        }
        return useful.sorted { $0.bits < $1.bits }.prefix(2).map { ($0.index, $0.isConstant) }
    }
}

extension ColumnDecoder {
    /// - Parameters:
    ///   - count: Any number below `SegmentLimits.rows`.
    ///   - refers: Whether the values are those of a column that all rows have.
    func integers(
        _ count: Int, refers: Bool = false, depth: Int = 0, from source: inout SegmentReader
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
            return [UInt64](byteStreams: bytes, width: width, count: count).map { base &+ Int64(bitPattern: $0) }
        case .deltaPlanes:
            let width = try width(from: &source)
            let bytes = try source.takeNumbers(count * width, of: count)
            return Self.sums([UInt64](byteStreams: bytes, width: width, count: count))
        case .runs: return try runs(count, depth, from: &source)
        case .packed:
            let bits = Int(try source.control.byte())
            guard bits == 1 || bits == 2 || bits == 4 else { throw .damaged(.segment) }
            let base = try source.control.signed()
            let bytes = try source.takeNumbers([Int64].packedSize(count: count, bits: bits), of: count)
            return [Int64](packed: bytes, base: base, bits: bits, count: count)
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

    private func width(from source: inout SegmentReader) throws(CompressionError) -> Int {
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
        _ count: Int, _ depth: Int, from source: inout SegmentReader
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
}
