import ShipCompression

/// Strings that are deflate streams, or hold one: the contents of the streams, and the parameters that make them again.
///
/// Source: `Protocol/COLUMNS.md` 2, "Deflated".
struct DeflatedStrings {
    /// By string: what made it, or 0 for one that goes as it is.
    private(set) var makers: [Int64] = []
    private(set) var contents = Strings()
    /// The bytes before and behind the streams that stand inside strings.
    private(set) var heads = Strings()
    private(set) var tails = Strings()
    /// The room that they took of the segment.
    private(set) var taken = StreamRoom.none

    /// - Parameter cost: Limits how much they may grow, and how long to search for streams.
    /// - Returns: `nil` if no string is or holds a stream that can be made again.
    init?(_ strings: Strings, within cost: TrialCost) {
        var hint: DeflateParameters?
        for index in 0..<strings.count {
            let string = strings[index]
            guard
                let (place, found) = cost.streams.repetition(
                    in: string, limit: min(SegmentLimits.deflatedString, cost.room.content - taken.content),
                    growth: cost.room.growth - taken.growth, hint: hint)
            else {
                makers.append(0)
                contents.append(string)
                continue
            }
            taken.add(found.content, of: string)
            hint = found.parameters
            let (wrapper, head) = Self.wrapper(of: found, isAll: place == string.indices)
            makers.append(wrapper.number(with: found.parameters))
            contents.append(found.content)
            guard wrapper.isInside else { continue }
            heads.append(string[..<place.lowerBound] + head)
            tails.append(string[place.upperBound...])
        }
        guard makers.contains(where: { $0 != 0 }) else { return nil }
        cost.room -= taken
    }

    /// - Returns: The head has what does not follow from the wrapper.
    private static func wrapper(
        of found: DeflateRecompression, isAll: Bool
    ) -> (wrapper: StreamWrapper, head: [UInt8]) {
        switch found.wrapping {
        case .raw: return (isAll ? .raw : .rawInside, [])
        case .zlib: return (isAll ? .zlib : .zlibInside, [])
        case .gzip(let head):
            let known = [StreamWrapper.gzip, .appleGzip].first { $0.gzipHead(found.parameters.level) == head }
            return isAll ? known.map { ($0, []) } ?? (.gzipInside, head) : (.gzipInside, head)
        }
    }
}

/// The bytes around a stream. With its parameters they are one number.
private enum StreamWrapper: Int, CaseIterable {
    case raw
    case zlib
    case gzip
    case appleGzip
    case rawInside
    case zlibInside
    case gzipInside

    /// How many combinations of levels, memory levels and windows there are.
    private static let combinations = 9 * 9 * 7

    /// - Returns: `nil` for a number that stands for nothing, as 0 does.
    static func read(_ number: Int64) -> (wrapper: StreamWrapper, parameters: DeflateParameters)? {
        guard number > 0, number <= Int64(combinations * allCases.count) else { return nil }
        let number = Int(number) - 1
        guard let wrapper = StreamWrapper(rawValue: number / combinations),
            let parameters = DeflateParameters(
                level: number % 9 + 1, memoryLevel: number / 9 % 9 + 1, windowBits: 15 - number / 81 % 7)
        else { return nil }
        return (wrapper, parameters)
    }

    func number(with parameters: DeflateParameters) -> Int64 {
        Int64(
            1 + parameters.level - 1 + 9 * (parameters.memoryLevel - 1) + 81 * (15 - parameters.windowBits)
                + Self.combinations * rawValue)
    }

    /// Whether a head and a tail are given.
    var isInside: Bool { rawValue >= Self.rawInside.rawValue }

    /// No flags, no time, a byte that follows from the level, and the system: Unix or Apple's.
    func gzipHead(_ level: Int) -> [UInt8] {
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, level == 9 ? 2 : level == 1 ? 4 : 0, self == .gzip ? 3 : 19]
    }

    /// The stream with what follows from the wrapper.
    ///
    /// - Returns: `nil` if zlib would look at too many places.
    func stream(of content: [UInt8], with parameters: DeflateParameters) -> [UInt8]? {
        let wrapping: DeflateWrapping =
            switch self {
            case .raw, .rawInside: .raw
            case .zlib, .zlibInside: .zlib
            case .gzip, .appleGzip: .gzip(head: gzipHead(parameters.level))
            case .gzipInside: .gzip(head: [])
            }
        return DeflateRecompression(content, parameters, wrapping).value
    }
}

extension ColumnDecoder {
    /// Makes streams again, alone or between a head and a tail; other strings stay as they are.
    func deflated(_ count: Int, _ depth: Int, from source: inout SegmentReader) throws(CompressionError) -> Strings {
        let numbers = try integers(count, depth: depth + 1, from: &source)
        let contents = try self.strings(count, depth: depth + 1, from: &source)
        var makers: [(wrapper: StreamWrapper, parameters: DeflateParameters)?] = []
        for number in numbers {
            let maker = StreamWrapper.read(number)
            guard maker != nil || number == 0 else { throw .damaged(.segment) }
            makers.append(maker)
        }
        let inside = makers.count { $0?.wrapper.isInside == true }
        let heads = try self.strings(inside, depth: depth + 1, from: &source)
        let tails = try self.strings(inside, depth: depth + 1, from: &source)
        var strings = Strings()
        var place = 0
        for (index, maker) in makers.enumerated() {
            let content = contents[index]
            guard let maker else {
                try source.spend(bytes: content.count)
                strings.append(content)
                continue
            }
            try source.spend(deflated: content.count)
            let isInside = maker.wrapper.isInside
            let (head, tail) = isInside ? (heads[place], tails[place]) : ([], [])
            if isInside { place += 1 }
            try source.spend(bytes: head.count + tail.count)
            guard let stream = maker.wrapper.stream(of: Array(content), with: maker.parameters) else {
                throw .damaged(.segmentLimit)
            }
            try source.spend(bytes: stream.count)
            strings.append(head + stream + tail)
        }
        return strings
    }
}
