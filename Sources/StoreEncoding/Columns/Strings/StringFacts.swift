import ShipCompression

/// The facts about strings that one pass tells for their encodings.
struct StringFacts {
    private(set) var totalLength = 0
    private var longest = 0
    private var shortest = Int.max
    private var shared = 0
    private var areEven = true
    private let hasNul: Bool
    private let count: Int
    private let first: [UInt8]
    private var hasPropertyList = false
    private var arePropertyLists = false

    private static let propertyListMagic = Array("bplist00".utf8)
    /// How deep it still looks into strings: into data of an archive that was deflated, and into what that holds.
    private static let deepestContent = 3

    init(_ strings: Strings) {
        count = strings.count
        first = count > 0 ? Array(strings[0].prefix(64)) : []
        for length in strings.lengths {
            totalLength += Int(length)
            longest = max(longest, Int(length))
            shortest = min(shortest, Int(length))
            areEven = areEven && length % 2 == 0
        }
        for index in stride(from: 1, to: count, by: max(1, count / 512)) {
            shared += strings.commonPrefix(index - 1, index)
        }
        arePropertyLists = count > 0
        for index in stride(from: 0, to: count, by: max(1, count / 64)) where !hasPropertyList || arePropertyLists {
            let isList = strings[index].starts(with: Self.propertyListMagic)
            hasPropertyList = hasPropertyList || isList
            arePropertyLists = arePropertyLists && isList
        }
        shared = shared * count / max(1, min(count, 512))
        hasNul = strings.bytes.withUnsafeBufferPointer { bytes in
            zip(strings.starts, strings.lengths).contains { start, length in
                let string = UnsafeRawBufferPointer(bytes)[Int(start)..<Int(start + length)]
                return Self.hasNul(UnsafeRawBufferPointer(rebasing: string))
            }
        }
    }

    /// Eight bytes at a time: subtracting 1 from a zero byte borrows from the byte above.
    private static func hasNul(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place &+ 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
            place &+= 8
        }
        while place < bytes.count {
            if bytes[place] == 0 { return true }
            place &+= 1
        }
        return false
    }

    /// Whether they are of one length, and as long as keys are.
    var mayBeKeys: Bool { shortest == longest && KeySearch.lengths.contains(longest) }

    /// Whether all may be property lists, which are taken apart at this depth.
    func areLists(depth: Int) -> Bool { arePropertyLists && hasLists(depth: depth) }

    private func hasLists(depth: Int) -> Bool { depth <= Self.deepestContent && longest > 40 && hasPropertyList }

    /// The fields of the decimal numbers in the strings; `nil` where hardly any are. Few bytes are rather found again in other columns, unless
    /// strings differ in their numbers alone.
    ///
    /// - Parameter contents: Of the segment.
    func decimals(of strings: Strings, depth: Int, in contents: [[UInt8]]) -> DecimalFields? {
        guard depth <= 2 else { return nil }
        let areAlike = areAlike(strings)
        guard areAlike || totalLength >= (depth == 0 ? 4096 : 1024) else { return nil }
        return DecimalFields(of: strings, areAlike: areAlike, in: contents)
    }

    /// Whether strings differ in their digits alone.
    private func areAlike(_ strings: Strings) -> Bool {
        func text(_ index: Int) -> [UInt8] { strings[index].filter { !(48...57 ~= $0) } }
        return looked.allSatisfy { text($0) == text(0) }
    }

    /// Whether all strings are the same, as what numbers leave of them often is.
    func areSame(_ strings: Strings) -> Bool {
        count > 1 && shortest == longest && (0..<count).allSatisfy { strings[$0] == strings[0] }
    }

    /// Whether some of the strings are the same.
    private func comeAgain(_ strings: Strings) -> Bool {
        count >= 16 && Set(looked.map { strings[$0] }).count * 4 <= looked.underestimatedCount * 3
    }

    /// The places of strings that tell what most are like.
    private var looked: StrideTo<Int> { stride(from: 0, to: count, by: max(1, count / 16)) }

    /// The runs of digits in the strings; `nil` where hardly any are, or where none are looked for.
    ///
    /// - Parameters:
    ///   - areShared: Whether other columns have them.
    ///   - contents: Of the segment.
    func digitRuns(
        of strings: Strings, depth: Int, areShared: Bool, inBase64: Bool, in contents: [[UInt8]]
    ) -> DigitRunSearch? {
        guard depth <= 2, totalLength >= 256, longest >= 16 else { return nil }
        return DigitRunSearch(strings, mayBeKeys: areShared && longest == shortest, inBase64: inBase64, in: contents)
    }

    /// What the strings are as texts in UTF-16; `nil` where they hardly are, or too few.
    func utf16(_ strings: Strings, depth: Int) -> UTF16Strings? {
        depth <= 2 && areEven && totalLength >= 32 ? UTF16Strings(strings) : nil
    }

    /// Encodings worth a trial, the simplest first.
    ///
    /// - Parameters:
    ///   - strings: Those that these facts are of.
    ///   - cost: Limits how closely, and how long, strings are searched for streams.
    func candidates(for strings: Strings, depth: Int, within cost: TrialCost) -> [StringTag] {
        var tags: [StringTag] = hasNul ? [.lengths] : [.terminated, .lengths]
        if hasLists(depth: depth) { tags.append(.propertyLists) }
        if depth <= Self.deepestContent, looked.contains(where: { cost.streams.hasStream(strings[$0]) }) {
            tags.append(.deflated)
        }
        if depth <= Self.deepestContent, BlockStrings.arePromising(strings, looked) { tags.append(.blocks) }
        if depth > 0, comeAgain(strings) { tags.append(.dictionary) }
        guard depth <= 2 else { return tags }
        if count > 1, longest == shortest, longest > 0, longest <= 4096, count > 3 { tags.append(.transposed) }
        if longest == HexDigits.uuidLength, shortest == longest {
            if looked.allSatisfy({ HexDigits.upper.isUUID(strings[$0]) }) { tags.append(.upperUUID) }
            if looked.allSatisfy({ HexDigits.lower.isUUID(strings[$0]) }) { tags.append(.lowerUUID) }
        }
        if ArrayFinder(strings) != nil { tags.append(.arrays) }
        guard depth < 2 else { return tags }
        if longest >= 16, first.count > 8, first.allSatisfy(HexDigits.isDigit) { tags += [.upperHex, .lowerHex] }
        if count > 8, shared * 5 > totalLength { tags.append(.front) }
        return tags
    }
}
