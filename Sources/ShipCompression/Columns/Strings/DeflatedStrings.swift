/// Strings that are deflate streams, as what they stand for and what made them.
///
/// Source: `Protocol/COLUMNS.md` 2, "Deflated".
struct DeflatedStrings {
    /// By string: 0 for one that goes as it is.
    private(set) var makers: [Int64] = []
    private(set) var contents = Strings()

    /// Operating systems that gzip's heads name: Unix and Apple's.
    private static let gzipSystems: [UInt8] = [3, 19]
    /// As many as there are combinations of levels, memory levels and windows.
    private static let parameters = 9 * 9 * 7
    static let makers = Int64(parameters * (2 + gzipSystems.count))

    /// - Parameter cost: What keeps how much they may grow.
    /// - Returns: `nil` if none is such a stream.
    init?(_ strings: Strings, within cost: TrialCost) {
        var hint: DeflateParameters?
        for index in 0..<strings.count {
            let string = strings[index]
            guard Self.mayHold(string), let found = DeflateRepetition(of: string, limit: Self.longest, hint: hint),
                let maker = Self.maker(found), found.content.count - string.count <= cost.growth,
                found.content.count * found.parameters.effort.depth <= cost.deflateWork
            else {
                makers.append(0)
                contents.append(string)
                continue
            }
            cost.deflateWork -= found.content.count * found.parameters.effort.depth
            cost.growth -= max(0, found.content.count - string.count)
            hint = found.parameters
            makers.append(maker)
            contents.append(found.content)
        }
        guard makers.contains(where: { $0 != 0 }) else { return nil }
    }

    private static let longest = SegmentLimits.deflatedString

    /// Whether it is worth to look closer.
    static func mayHold(_ string: ArraySlice<UInt8>) -> Bool {
        guard string.count >= DeflateRepetition.shortest else { return false }
        let wrapping = DeflateWrapping(of: string)
        return DeflatedBlob.inflated(string.dropFirst(wrapping.headSize).dropLast(wrapping.tailSize)) != nil
    }

    private static func maker(_ found: DeflateRepetition) -> Int64? {
        let given = found.parameters
        let wrapper: Int
        switch found.wrapping {
        case .raw: wrapper = 0
        case .zlib: wrapper = 1
        case .gzip(let head):
            guard let system = gzipSystems.firstIndex(where: { head == gzipHead(given.level, system: $0) }) else {
                return nil
            }
            wrapper = 2 + system
        }
        return Int64(
            1 + given.level - 1 + 9 * (given.memoryLevel - 1) + 81 * (15 - given.windowBits) + parameters * wrapper)
    }

    /// - Returns: `nil` for 0, and what is beyond all that there are.
    static func parameters(of maker: Int64) -> DeflateParameters? {
        guard maker > 0, maker <= makers else { return nil }
        let number = Int(maker) - 1
        return DeflateParameters(
            level: number % 9 + 1, memoryLevel: number / 9 % 9 + 1, windowBits: 15 - number / 81 % 7)
    }

    /// - Returns: `nil` for a maker that there is not.
    static func stream(of content: [UInt8], by maker: Int64) -> [UInt8]? {
        guard let given = parameters(of: maker) else { return nil }
        let number = Int(maker) - 1
        let wrapper = number / parameters
        let wrapping: DeflateWrapping =
            switch wrapper {
            case 0: .raw
            case 1: .zlib
            default: .gzip(head: gzipHead(given.level, system: gzipSystems[wrapper - 2]))
            }
        return DeflateRepetition(content, given, wrapping).value
    }

    /// As zlib writes it: no flags, no time, what the level says of itself, and the system.
    private static func gzipHead(_ level: Int, system: UInt8) -> [UInt8] {
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, level == 9 ? 2 : level == 1 ? 4 : 0, system]
    }
}

extension ColumnDecoder {
    /// Strings of which some are made into streams.
    func deflated(
        _ count: Int, _ depth: Int, from source: inout SegmentSource
    ) throws(CompressionError) -> Strings {
        let makers = try integers(count, depth: depth + 1, from: &source)
        let contents = try strings(count, depth: depth + 1, from: &source)
        var whole = Strings()
        for (index, maker) in makers.enumerated() {
            let content = contents[index]
            guard maker != 0 else {
                try source.spend(bytes: content.count)
                whole.append(content)
                continue
            }
            guard let given = DeflatedStrings.parameters(of: maker) else { throw .damaged(.segment) }
            try source.spend(deflated: content.count, depth: given.effort.depth)
            guard let stream = DeflatedStrings.stream(of: Array(content), by: maker) else { throw .damaged(.segment) }
            try source.spend(bytes: stream.count)
            whole.append(stream)
        }
        return whole
    }
}
