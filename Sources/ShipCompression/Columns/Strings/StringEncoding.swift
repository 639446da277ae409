extension ColumnEncoder {
    /// Writes the tag and the strings; nothing for no strings.
    ///
    /// - Parameters:
    ///   - refers: Whether they are those of a whole column, so that they may refer to earlier ones.
    ///   - areOfRows: Whether they may be those of rows.
    func encode(
        _ strings: Strings, refers: Bool = false, depth: Int = 0, areOfRows: Bool = true, into areas: inout SegmentAreas
    ) {
        guard strings.count > 0 else { return }
        let facts = StringFacts(strings, effort.care)
        var candidates = withoutClearLoser(facts.candidates(depth: depth), strings, facts, depth: depth).map { ($0, 0) }
        if areOfRows, refers || depth == 1 { candidates += holders(of: strings).map { (.holding, $0) } }
        let rows = sampleRows(of: strings, totalLength: facts.totalLength)
        let weigh = { (candidate: (StringTag, Int), cost: Int) in
            switch candidate.0 {
            case .deflated where effort.hasBase: cost / 8
            default: candidate.0.scattersKeys ? Self.shared(cost) : cost
            }
        }
        let writeAll = { (candidate: (StringTag, Int), areas: inout SegmentAreas) in
            write(candidate.0, strings, facts, textReference(candidate.1), candidate.1, depth, &areas)
        }
        if candidates.count > 1, let rows {
            let sample = strings.selecting(rows)
            let sampleFacts = StringFacts(sample, effort.care)
            candidates = ranked(candidates, by: rows.count, of: strings.count, weigh: weigh) { candidate, areas in
                write(
                    candidate.0, sample, sampleFacts, textReference(candidate.1)?.selecting(rows), candidate.1, depth,
                    &areas)
            }
        } else if let best = cheapest(of: candidates, weigh: weigh, write: writeAll) {
            areas.append(best)
            return
        }
        for candidate in candidates {
            var trial = SegmentAreas()
            if writeAll(candidate, &trial) {
                areas.append(trial)
                return
            }
        }
        _ = write(.lengths, strings, facts, nil, 0, depth, &areas)
    }

    /// Whether lengths are better than zeros at the ends shows in most cases without a trial: the text is the same, and a zero
    /// takes about as many bits as its frequency says, fewer where it is part of what repeats, more in noise.
    private func withoutClearLoser(
        _ candidates: [StringTag], _ strings: Strings, _ facts: StringFacts, depth: Int
    ) -> [StringTag] {
        guard candidates.starts(with: [.terminated, .lengths]), effort.care != .great else { return candidates }
        var areas = SegmentAreas()
        encode(strings.lengths.map(Int64.init), depth: depth + 1, into: &areas)
        let lengthBits = cost.of(areas) * 8
        let mean = facts.totalLength / strings.count
        let zeroBits = strings.count * (Int.bitWidth - mean.leadingZeroBitCount)
        if lengthBits > zeroBits * 3 / 2 { return candidates.filter { $0 != .lengths } }
        if lengthBits * 3 < zeroBits { return candidates.filter { $0 != .terminated } }
        return candidates
    }

    private func textReference(_ index: Int) -> Strings? {
        index < textReferences.count ? textReferences[index] : nil
    }

    /// - Returns: `nil` if all are few enough to be looked at.
    private func sampleRows(of strings: Strings, totalLength: Int) -> [Int]? {
        let count =
            totalLength > effort.sampleSize
            ? max(8, strings.count / (totalLength / effort.sampleSize + 1)) : strings.count
        let limited = min(count, effort.sampleCount)
        return limited < strings.count ? Array(0..<strings.count).sampled(limited) : nil
    }

    /// - Returns: Whether the encoding can hold the strings; if not, `areas` are of no use.
    private func write(
        _ tag: StringTag, _ strings: Strings, _ facts: StringFacts, _ referred: Strings?, _ reference: Int,
        _ depth: Int, _ areas: inout SegmentAreas
    ) -> Bool {
        areas.tag(tag.rawValue)
        switch tag {
        case .lengths:
            encode(strings.lengths.map(Int64.init), depth: depth + 1, into: &areas)
            strings.append(to: &areas.text)
        case .terminated:
            strings.append(to: &areas.text, end: 0)
        case .transposed:
            areas.count(facts.longest)
            areas.appendNumbers(BytePlanes.transposed(strings, length: facts.longest), of: strings.count)
        case .upperUUID, .lowerUUID:
            let digits = tag == .upperUUID ? HexDigits.upper : .lower
            var bytes: [UInt8] = []
            bytes.reserveCapacity(strings.count * 16)
            for index in 0..<strings.count {
                guard digits.appendUUID(strings[index], to: &bytes) else { return false }
            }
            areas.appendNumbers(bytes, of: strings.count)
        case .upperHex, .lowerHex:
            let digits = tag == .upperHex ? HexDigits.upper : .lower
            var decoded = Strings()
            for index in 0..<strings.count {
                guard let bytes = digits.bytes(of: strings[index]) else { return false }
                decoded.append(bytes)
            }
            encode(decoded, depth: depth + 2, into: &areas)
        case .front:
            var prefixes: [Int64] = []
            var suffixes = Strings(in: strings.bytes)
            for index in 0..<strings.count {
                let shared = index == 0 ? 0 : strings.commonPrefix(index - 1, index)
                prefixes.append(Int64(shared))
                suffixes.append(
                    start: Int(strings.starts[index]) + shared, length: Int(strings.lengths[index]) - shared)
            }
            encode(prefixes, depth: depth + 1, into: &areas)
            encode(suffixes, depth: depth + 2, into: &areas)
        case .propertyLists:
            guard let lists = ListEncoder(strings) else { return false }
            write(lists, depth + 1, &areas)
        case .deflated:
            guard let deflated = DeflatedStrings(strings, depth: depth, within: cost) else { return false }
            encode(deflated.makers, depth: depth + 1, into: &areas)
            encode(deflated.contents, depth: depth + 1, into: &areas)
            encode(deflated.heads, depth: depth + 1, into: &areas)
            encode(deflated.tails, depth: depth + 1, into: &areas)
        case .identified:
            guard let identified = IdentifiedStrings(strings) else { return false }
            encode(identified.places, depth: depth + 1, into: &areas)
            areas.appendNumbers(identified.bytes, of: identified.bytes.count / 16)
            encode(identified.rest, depth: depth + 1, into: &areas)
        case .pattern:
            guard let pattern = DigitPattern(strings) else { return false }
            pattern.write(into: &areas)
            for field in pattern.fields { encode(field.numbers, depth: depth + 1, into: &areas) }
        case .holding:
            guard let referred, referred.count == strings.count else { return false }
            let held = HeldStrings(strings, holding: referred)
            guard held.number > 0 else { return false }
            areas.count(reference)
            encode(held.places, depth: depth + 1, into: &areas)
            encode(held.rest, depth: depth + 1, into: &areas)
        }
        return true
    }

    /// Source: `Protocol/LISTS.md` 3.
    private func write(_ lists: ListEncoder, _ depth: Int, _ areas: inout SegmentAreas) {
        encode(lists.modes, depth: depth, into: &areas)
        encode(lists.rest, depth: depth, areOfRows: false, into: &areas)
        encode(lists.tables, depth: depth, into: &areas)
        areas.count(lists.names.count)
        encode(lists.names, depth: depth, areOfRows: false, into: &areas)
        areas.count(lists.shapes.count)
        encode(lists.shapes.map { Int64($0.names.count) }, depth: depth, into: &areas)
        encode(lists.shapes.flatMap { $0.names.map { Int64($0) } }, depth: depth, into: &areas)
        encode(
            lists.shapes.flatMap { $0.order.enumerated().map { Int64($0.element - $0.offset) } }, depth: depth,
            into: &areas)
        areas.count(lists.codes.codes.count)
        encode(lists.codes.codes.map { Int64($0.count) }, depth: depth, into: &areas)
        encode(lists.codes.codes.joined().map { Int64($0) }, depth: depth, into: &areas)
        for stream in [ListCode.Stream.uids, .numbers, .sizes, .shapes, .shared] {
            encode(lists.codes.values(of: stream), depth: depth, into: &areas)
        }
        encode(reals: lists.codes.values(of: .reals).map { UInt64(bitPattern: $0) }, depth: depth, into: &areas)
        for (stream, strings) in [(ListCode.Stream.ascii, lists.ascii), (.utf16, lists.utf16), (.data, lists.data)] {
            let order = lists.codes.values(of: stream).map { Int($0) }
            encode(strings.selecting(order), depth: depth, areOfRows: false, into: &areas)
        }
    }

    /// Earlier text columns that most of the strings hold.
    private func holders(of strings: Strings) -> [Int] {
        let rows = Array(0..<strings.count).sampled(min(strings.count, 256))
        var found: [(index: Int, saved: Int)] = []
        for (index, referred) in textReferences.withinReach {
            guard let referred, referred.count == strings.count else { continue }
            if let saved = HeldStrings.saved(strings, holding: referred, in: rows) { found.append((index, saved)) }
        }
        return found.sorted { $0.saved > $1.saved }.prefix(2).map(\.index)
    }
}

extension StringTag {
    /// Whether a key is not found again where another column has it: it goes apart, or where no far matches are looked for.
    fileprivate var scattersKeys: Bool {
        self == .transposed || self == .upperUUID || self == .lowerUUID || self == .identified
    }
}
