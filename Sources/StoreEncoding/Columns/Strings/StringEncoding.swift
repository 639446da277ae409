import ShipCompression

/// The first byte of strings: their encoding. Encodings of more than a few lines have files of their own.
///
/// Source: `Protocol/COLUMNS.md` 2, "Strings(n)".
enum StringTag: UInt8 {
    /// The lengths, and the bytes as they are.
    case lengths = 0
    /// The bytes, each string with a zero at its end.
    case terminated = 1
    /// A byte-stream split of strings of one length.
    case transposed = 2
    case upperUUID = 3
    case lowerUUID = 4
    case upperHex = 5
    case lowerHex = 6
    /// How many bytes each string begins with like the one before, and the rest of it.
    case front = 7
    /// The different strings, and for each row which.
    case dictionary = 8
    case holding = 9
    case propertyLists = 10
    case deflated = 11
    /// `DigitRuns.swift`.
    case digits = 12
    /// `ArrayStrings`.
    case arrays = 13
    /// `BlockStrings`.
    case blocks = 14
    case decimals = 15
    /// `UTF16Strings`.
    case utf16 = 16
}

extension StringTag {
    /// Whether a string is found again where the base has it.
    fileprivate var keepsStrings: Bool { [.lengths, .terminated, .front, .deflated].contains(self) }

    /// Whether a key is not found again where another column has it: its bytes are apart, or where the encoder looks for no far matches.
    fileprivate var scattersKeys: Bool {
        [.transposed, .upperUUID, .lowerUUID, .arrays, .utf16].contains(self)
    }
}

extension ColumnEncoder {
    /// Writes the tag and the strings; nothing for no strings.
    ///
    /// - Parameters:
    ///   - refers: Whether they are those of a column that all rows have, so that they may refer to earlier ones.
    ///   - areOfRows: Whether they may be those of rows.
    func encode(
        _ strings: Strings, refers: Bool = false, depth: Int = 0, areOfRows: Bool = true, into areas: inout SegmentAreas
    ) {
        guard strings.count > 0 else { return }
        let facts = StringFacts(strings)
        var made = Drafts()
        if depth > 0, facts.areSame(strings), !effort.keepsStrings {
            _ = write(.dictionary, strings, made, nil, depth, &areas)
            return
        }
        let areLists = facts.areLists(depth: depth) && !effort.keepsStrings
        if areLists { made.lists = PlistEncoder(strings) }
        // What can be taken apart altogether is smaller so, and trials of lists within lists take longest of all.
        if let lists = made.lists, lists.rest.count == 0 {
            areas.tag(StringTag.propertyLists.rawValue)
            write(lists, depth + 1, &areas)
            return
        }
        var tags = facts.candidates(for: strings, depth: depth, within: cost)
        if areLists, made.lists == nil { tags.removeAll { $0 == .propertyLists } }
        let keys = depth == 0 ? sharedKeys : nil
        let mayChange = effort.changesStrings && !isMostlyFound
        if !effort.keepsStrings {
            made.digits = facts.digitRuns(
                of: strings, depth: depth, areShared: keys != nil, inBase64: mayChange, in: cost.contents)
        }
        if !effort.takesDigits, made.digits?.areInBase64 != true { made.digits = nil }
        let areKeys = made.digits?.areKeys == true
        let areUUIDs = tags.contains { $0 == .upperUUID || $0 == .lowerUUID }
        made.decimals = facts.decimals(of: strings, depth: depth, in: cost.contents)
        if made.decimals != nil { tags.append(.decimals) }
        if made.digits != nil { tags.append(.digits) }
        made.utf16 = mayChange ? facts.utf16(strings, depth: depth) : nil
        if made.utf16 != nil { tags.append(.utf16) }
        if effort.keepsStrings { tags.removeAll { !$0.keepsStrings } }
        dropClearLoser(of: &tags, strings, facts, depth: depth, &made)
        let whole = made
        var candidates = tags.map { ($0, Int?.none) }
        if areOfRows, refers || depth == 1 { candidates += holders(of: strings).map { (.holding, Int?.some($0)) } }
        let rows = sampleRows(of: strings, totalLength: facts.totalLength, least: tags.contains(.transposed) ? 64 : 8)
        let sample = rows.map(strings.selecting)
        let weighed = (sample ?? strings).count
        let inBytes = keys?.inBytes
        let isExact = effort.thoroughness == .great
        let isScattered = depth == 0 && keys == nil && tags.contains(where: \.scattersKeys)
        let found =
            isScattered && facts.mayBeKeys
            ? TokenSearch.share(of: (0..<strings.count).map { strings[$0] }, in: cost.contents, besides: strings) : 0
        let weigh = { (candidate: (StringTag, Int?), cost: Int) in
            switch candidate.0 {
            case .deflated where effort.hasBase: cost / 8
            // Of encodings that an estimate finds nearly equal, the one without lengths is smaller in most stores.
            case .lengths, .terminated:
                keys?.cost(of: weighed, asTheyStand: cost, where: keptColumns)
                    ?? (candidate.0 == .lengths && !isExact ? cost + cost / 32 : cost)
            case .digits where areKeys: inBytes?.cost(of: weighed, asTheyStand: cost, where: keptColumns) ?? cost
            // Too little of a text shows what comes again in it further off; but a base has it as it is in the store.
            case .utf16 where keys == nil && !effort.hasBase && facts.totalLength >= 1024: cost - cost / 16
            case .utf16 where keys == nil: cost
            case .decimals: made.decimals?.weighed(cost, found: found) ?? cost
            case .digits where areUUIDs: Self.shared(cost)
            case .digits: made.digits?.weighed(cost, isCompared: isExact) ?? cost
            default: candidate.0.scattersKeys ? Self.shared(cost) + Int(Double(cost) * found) : cost
            }
        }
        let writeAll = { (candidate: (StringTag, Int?), areas: inout SegmentAreas) in
            write(candidate.0, strings, whole, reference(candidate.1), depth, &areas)
        }
        if candidates.count > 1, let rows, let sample {
            let drafts = Drafts(decimals: whole.decimals, digits: whole.digits, utf16: whole.utf16)
            candidates = ranked(candidates, by: rows.count, of: strings.count, weigh: weigh) { candidate, areas in
                write(candidate.0, sample, drafts, reference(candidate.1, selecting: rows), depth, &areas)
            }
            // An estimate does not see what comes again around numbers.
            if !isExact, candidates.prefix(2).contains(where: { $0.0 == .decimals }) {
                let more = Array(0..<strings.count).sampled(4 * rows.count)
                let selected = strings.selecting(more)
                candidates = confirmed(candidates, weigh: weigh) { candidate, areas in
                    write(candidate.0, selected, drafts, reference(candidate.1, selecting: more), depth, &areas)
                }
            }
        } else if let best = cheapest(of: candidates, weigh: weigh, write: writeAll) {
            areas.append(best)
            return
        }
        if let first = first(of: candidates, write: writeAll) {
            areas.append(first)
            return
        }
        encodeAsTheyStand(strings, depth: depth, into: &areas)
    }

    /// Writes strings in the text area, back to back.
    func encodeAsTheyStand(_ strings: Strings, depth: Int, into areas: inout SegmentAreas) {
        guard strings.count > 0 else { return }
        _ = write(.lengths, strings, Drafts(), nil, depth, &areas)
    }

    /// Parts of encodings that were made of strings before one was chosen.
    private struct Drafts {
        var lists: PlistEncoder?
        var decimals: DecimalFields?
        var digits: DigitRunSearch?
        var utf16: UTF16Strings?
        /// Their lengths, as the encoding of that name writes them.
        var lengths: SegmentAreas?
    }

    /// Drops lengths or zeros at the ends, where it shows without a trial which is worse. The text is the same in both, and a zero takes
    /// about as many bits as follow from its frequency: fewer in a repetition, more in noise.
    private func dropClearLoser(
        of candidates: inout [StringTag], _ strings: Strings, _ facts: StringFacts, depth: Int, _ made: inout Drafts
    ) {
        guard candidates.starts(with: [.terminated, .lengths]), effort.thoroughness != .great else { return }
        var areas = SegmentAreas()
        encode(strings.lengths.map(Int64.init), depth: depth + 1, into: &areas)
        made.lengths = areas
        let lengthBits = cost.of(areas) * 8
        let mean = facts.totalLength / strings.count
        let zeroBits = strings.count * (Int.bitWidth - mean.leadingZeroBitCount)
        if lengthBits > zeroBits * 3 / 2 {
            candidates.removeAll { $0 == .lengths }
        } else if lengthBits * 3 < zeroBits {
            candidates.removeAll { $0 == .terminated }
        }
    }

    /// The texts of an earlier column; `nil` unless all rows have it, and only texts.
    func texts(ofColumn index: Int) -> Strings? {
        valueReferences[index].flatMap { $0.kindMask == 1 << ColumnValues.textKind ? $0.texts : nil }
    }

    /// An earlier column that strings refer to, and its texts in the same rows.
    private typealias Reference = (column: Int, texts: Strings)

    /// - Parameter rows: The rows of the strings to encode, if they are not all.
    private func reference(_ column: Int?, selecting rows: [Int]? = nil) -> Reference? {
        guard let column, let texts = texts(ofColumn: column) else { return nil }
        return (column, rows.map(texts.selecting) ?? texts)
    }

    /// - Returns: The strings to try encodings with; `nil` if all are few enough.
    private func sampleRows(of strings: Strings, totalLength: Int, least: Int) -> [Int]? {
        let count =
            totalLength > effort.sampleSize
            ? max(least, strings.count / (totalLength / effort.sampleSize + 1)) : strings.count
        let limited = min(count, effort.sampleCount)
        return limited < strings.count ? Array(0..<strings.count).sampled(limited) : nil
    }

    /// - Parameter made: Of these strings.
    /// - Returns: Whether the encoding can hold the strings; if not, `areas` are of no use.
    private func write(
        _ tag: StringTag, _ strings: Strings, _ made: Drafts, _ reference: Reference?, _ depth: Int,
        _ areas: inout SegmentAreas
    ) -> Bool {
        areas.tag(tag.rawValue)
        switch tag {
        case .lengths:
            if let lengths = made.lengths {
                areas.append(lengths)
            } else {
                encode(strings.lengths.map(Int64.init), depth: depth + 1, into: &areas)
            }
            if depth == 0 { areas.note(strings, of: sharedKeys) }
            strings.append(to: &areas.text)
        case .terminated:
            if depth == 0 { areas.note(strings, of: sharedKeys, end: 1) }
            strings.append(to: &areas.text, end: 0)
        case .transposed:
            // All have one length.
            let length = Int(strings.lengths[0])
            areas.count(length)
            areas.appendNumbers(strings.splitIntoByteStreams(length: length), of: strings.count)
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
            guard let lists = made.lists ?? PlistEncoder(strings) else { return false }
            write(lists, depth + 1, &areas)
        case .deflated:
            guard let deflated = DeflatedStrings(strings, within: cost) else { return false }
            areas.streams += deflated.taken
            encode(deflated.makers, depth: depth + 1, into: &areas)
            encode(deflated.contents, depth: depth + 1, into: &areas)
            encode(deflated.heads, depth: depth + 1, into: &areas)
            encode(deflated.tails, depth: depth + 1, into: &areas)
        case .arrays:
            return writeArrays(strings, depth, &areas)
        case .blocks:
            return writeBlocks(strings, depth, &areas)
        case .decimals:
            return writeDecimals(strings, made.decimals, depth, &areas)
        case .digits:
            return writeDigits(strings, made.digits, depth, &areas)
        case .utf16:
            return writeUTF16(strings, made.utf16, depth, &areas)
        case .dictionary:
            guard let distinct = strings.distinct() else { return false }
            let values = strings.selecting(distinct.firstRows.map(Int.init))
            areas.count(values.count)
            encode(values, depth: depth + 1, areOfRows: false, into: &areas)
            encode(distinct.ids.map(Int64.init), depth: depth + 1, into: &areas)
        case .holding:
            guard let reference, reference.texts.count == strings.count else { return false }
            areas.count(reference.column)
            return write(strings, holding: reference.texts, depth, &areas)
        }
        return true
    }
}

extension ColumnDecoder {
    /// - Parameters:
    ///   - refers: Whether the strings are those of a column that all rows have.
    ///   - areOfRows: Whether they may be those of rows, to whose other columns they refer then.
    func strings(
        _ count: Int, refers: Bool = false, depth: Int = 0, areOfRows: Bool = true, from source: inout SegmentReader
    ) throws(CompressionError) -> Strings {
        guard count > 0 else { return Strings() }
        guard depth < SegmentLimits.depth else { throw .damaged(.segmentLimit) }
        try source.spend(values: count)
        guard let tag = StringTag(rawValue: try source.control.byte()) else { throw .damaged(.segment) }
        switch tag {
        case .lengths:
            var strings = Strings(in: source.text.bytes)
            for length in try integers(count, depth: depth + 1, from: &source) {
                guard let length = Int(exactly: length) else { throw .damaged(.segment) }
                let range = try source.text.take(length)
                strings.append(start: range.lowerBound, length: length)
            }
            return strings
        case .terminated:
            var strings = Strings(in: source.text.bytes)
            for _ in 0..<count {
                let range = try source.text.takeToNul()
                strings.append(start: range.lowerBound, length: range.count)
            }
            return strings
        case .transposed:
            let length = try source.control.count(limit: SegmentLimits.groupSize)
            let bytes = try source.takeNumbers(count * length, of: count)
            try source.spend(bytes: bytes.count)
            return Strings(byteStreams: bytes, length: length, count: count)
        case .upperUUID, .lowerUUID:
            let digits = tag == .upperUUID ? HexDigits.upper : .lower
            let bytes = try source.takeNumbers(count * 16, of: count)
            try source.spend(bytes: count * 36)
            var strings = Strings()
            strings.bytes.reserveCapacity(count * 36)
            for index in 0..<count {
                strings.append(start: strings.bytes.count, length: 36)
                digits.appendUUID(of: bytes.dropFirst(index * 16).prefix(16), to: &strings.bytes)
            }
            return strings
        case .upperHex, .lowerHex:
            let digits = tag == .upperHex ? HexDigits.upper : .lower
            let decoded = try self.strings(count, depth: depth + 2, from: &source)
            try source.spend(bytes: decoded.totalLength * 2)
            var strings = Strings()
            strings.bytes.reserveCapacity(decoded.totalLength * 2)
            for index in 0..<count {
                let bytes = decoded[index]
                strings.append(start: strings.bytes.count, length: bytes.count * 2)
                digits.append(bytes, to: &strings.bytes)
            }
            return strings
        case .propertyLists: return try propertyLists(count, depth, from: &source)
        case .deflated: return try deflated(count, depth, from: &source)
        case .arrays: return try arrays(count, depth, from: &source)
        case .blocks: return try blocks(count, depth, from: &source)
        case .decimals: return try decimals(count, depth, from: &source)
        case .digits: return try digits(count, depth, from: &source)
        case .utf16: return try utf16(count, depth, from: &source)
        case .front: return try front(count, depth, from: &source)
        case .dictionary: return try dictionary(count, depth, from: &source)
        case .holding: return try holding(count, refers: areOfRows && (refers || depth == 1), depth, from: &source)
        }
    }

    private func dictionary(
        _ count: Int, _ depth: Int, from source: inout SegmentReader
    ) throws(CompressionError) -> Strings {
        let valueCount = try source.control.count(limit: count)
        let values = try self.strings(valueCount, depth: depth + 1, areOfRows: false, from: &source)
        var strings = Strings(in: values.bytes)
        for index in try integers(count, depth: depth + 1, from: &source) {
            guard 0..<Int64(valueCount) ~= index else { throw .damaged(.segment) }
            let length = Int(values.lengths[Int(index)])
            try source.spend(bytes: length)
            strings.append(start: Int(values.starts[Int(index)]), length: length)
        }
        return strings
    }

    private func front(
        _ count: Int, _ depth: Int, from source: inout SegmentReader
    ) throws(CompressionError) -> Strings {
        let prefixes = try integers(count, depth: depth + 1, from: &source)
        let suffixes = try self.strings(count, depth: depth + 2, from: &source)
        var strings = Strings()
        for (index, prefix) in prefixes.enumerated() {
            let (lastStart, lastLength) =
                index == 0 ? (0, 0) : (Int(strings.starts[index - 1]), Int(strings.lengths[index - 1]))
            guard prefix >= 0, prefix <= Int64(lastLength) else { throw .damaged(.segment) }
            let suffix = suffixes[index]
            try source.spend(bytes: Int(prefix) + suffix.count)
            let start = strings.bytes.count
            strings.bytes.append(contentsOf: Array(strings.bytes[lastStart..<lastStart + Int(prefix)]))
            strings.bytes.append(contentsOf: suffix)
            strings.append(start: start, length: Int(prefix) + suffix.count)
        }
        return strings
    }
}
