/// Strings that are deflate streams, or hold one, as what these stand for and what made them.
///
/// Source: `Protocol/COLUMNS.md` 2, "Deflated".
struct DeflatedStrings {
    /// By string: 0 for one that goes as it is.
    private(set) var makers: [Int64] = []
    private(set) var contents = Strings()
    /// What stands before the streams that others stand around, and what behind them.
    private(set) var heads = Strings()
    private(set) var tails = Strings()

    /// - Parameters:
    ///   - depth: How many encodings they stand within.
    ///   - cost: What keeps how much they may grow.
    /// - Returns: `nil` if none is or holds such a stream.
    init?(_ strings: Strings, depth: Int = 0, within cost: TrialCost) {
        var hint: DeflateParameters?
        for index in 0..<strings.count {
            let string = strings[index]
            guard let place = StreamPlace.inside(string, cost.care),
                let found = DeflateRepetition(
                    of: string[place], limit: min(SegmentLimits.deflatedString, place.count + cost.growth), hint: hint),
                found.content.count * found.parameters.effort.depth <= cost.deflateWork,
                depth == 0 || found.content.count <= cost.nestedContent
            else {
                makers.append(0)
                contents.append(string)
                continue
            }
            cost.deflateWork -= found.content.count * found.parameters.effort.depth
            if depth > 0 { cost.nestedContent -= found.content.count }
            cost.growth -= max(0, found.content.count - string.count)
            hint = found.parameters
            let (wrapper, head) = Self.wrapper(of: found, isWhole: place == string.indices)
            makers.append(StreamMaker(found.parameters, wrapper).number)
            contents.append(found.content)
            guard wrapper.isInside else { continue }
            heads.append(string[..<place.lowerBound] + head)
            tails.append(string[place.upperBound...])
        }
        guard makers.contains(where: { $0 != 0 }) else { return nil }
    }

    /// - Returns: With the part of the head that no wrapper says.
    private static func wrapper(
        of found: DeflateRepetition, isWhole: Bool
    ) -> (wrapper: StreamMaker.Wrapper, head: [UInt8]) {
        switch found.wrapping {
        case .raw: return (isWhole ? .raw : .rawInside, [])
        case .zlib: return (isWhole ? .zlib : .zlibInside, [])
        case .gzip(let head):
            let known = [StreamMaker.Wrapper.gzip, .appleGzip].first { $0.gzipHead(found.parameters.level) == head }
            return isWhole ? known.map { ($0, []) } ?? (.gzipInside, head) : (.gzipInside, head)
        }
    }
}

/// What made a stream, as one number.
private struct StreamMaker {
    enum Wrapper: Int, CaseIterable {
        case raw
        case zlib
        case gzip
        case appleGzip
        case rawInside
        case zlibInside
        case gzipInside

        /// Whether a head and a tail are given.
        var isInside: Bool { rawValue >= Self.rawInside.rawValue }

        /// No flags, no time, what the level says of itself, and the system: Unix or Apple's.
        func gzipHead(_ level: Int) -> [UInt8] {
            [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, level == 9 ? 2 : level == 1 ? 4 : 0, self == .gzip ? 3 : 19]
        }
    }

    let parameters: DeflateParameters
    let wrapper: Wrapper

    /// As many as there are combinations of levels, memory levels and windows.
    private static let combinations = 9 * 9 * 7

    init(_ parameters: DeflateParameters, _ wrapper: Wrapper) {
        (self.parameters, self.wrapper) = (parameters, wrapper)
    }

    /// - Returns: `nil` for a number that none has, 0 among them.
    init?(number: Int64) {
        guard number > 0, number <= Int64(Self.combinations * Wrapper.allCases.count) else { return nil }
        let number = Int(number) - 1
        guard let wrapper = Wrapper(rawValue: number / Self.combinations),
            let parameters = DeflateParameters(
                level: number % 9 + 1, memoryLevel: number / 9 % 9 + 1, windowBits: 15 - number / 81 % 7)
        else { return nil }
        self.init(parameters, wrapper)
    }

    var number: Int64 {
        Int64(
            1 + parameters.level - 1 + 9 * (parameters.memoryLevel - 1) + 81 * (15 - parameters.windowBits)
                + Self.combinations * wrapper.rawValue)
    }

    /// - Parameter head: What stands before it, where that is given.
    func stream(of content: [UInt8], after head: ArraySlice<UInt8>) -> [UInt8] {
        let wrapping: DeflateWrapping =
            switch wrapper {
            case .raw, .rawInside: .raw
            case .zlib, .zlibInside: .zlib
            case .gzip, .appleGzip: .gzip(head: wrapper.gzipHead(parameters.level))
            case .gzipInside: .gzip(head: [])
            }
        return head + DeflateRepetition(content, parameters, wrapping).value
    }
}

extension ColumnDecoder {
    /// Strings of which some are made into streams, or are what stands around them too.
    func deflated(
        _ count: Int, _ depth: Int, from source: inout SegmentSource
    ) throws(CompressionError) -> Strings {
        let numbers = try integers(count, depth: depth + 1, from: &source)
        let contents = try strings(count, depth: depth + 1, from: &source)
        var makers: [StreamMaker?] = []
        for number in numbers {
            let maker = StreamMaker(number: number)
            guard maker != nil || number == 0 else { throw .damaged(.segment) }
            makers.append(maker)
        }
        let inside = makers.count { $0?.wrapper.isInside == true }
        let heads = try strings(inside, depth: depth + 1, from: &source)
        let tails = try strings(inside, depth: depth + 1, from: &source)
        var whole = Strings()
        var place = 0
        for (index, maker) in makers.enumerated() {
            let content = contents[index]
            guard let maker else {
                try source.spend(bytes: content.count)
                whole.append(content)
                continue
            }
            try source.spend(deflated: content.count, depth: maker.parameters.effort.depth)
            var stream: [UInt8]
            if maker.wrapper.isInside {
                try source.spend(bytes: heads[place].count + tails[place].count)
                stream = maker.stream(of: Array(content), after: heads[place])
                try source.spend(bytes: stream.count - heads[place].count)
                stream += tails[place]
                place += 1
            } else {
                stream = maker.stream(of: Array(content), after: [])
                try source.spend(bytes: stream.count)
            }
            whole.append(stream)
        }
        return whole
    }
}
