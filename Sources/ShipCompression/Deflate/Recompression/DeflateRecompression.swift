/// A value that is one deflate stream, as its content and what it takes to make it again to the last bit.
package struct DeflateRecompression: Hashable, Sendable {
    package let wrapping: DeflateWrapping
    package let parameters: DeflateParameters
    /// The bytes that the stream stands for.
    package let content: [UInt8]

    /// A value of fewer bytes is not tried.
    package static let shortest = 64
    /// The most places that zlib may try for matches, for each byte of the content. Levels 1 to 6 never try more.
    ///
    /// Source: `Protocol/COLUMNS.md` 2, "Limits".
    private static let triesPerByte = 128
    /// How many more places all trials together may try in any case.
    private static let leastTries = 1 << 16
    /// The work of making the codes of a block, in places that are tried.
    private static let blockTries = 1 << 11
    /// A trial is compared with the stream after each this many tokens.
    private static let step = 256

    /// - Parameter content: Below 2 GiB.
    package init(_ content: [UInt8], _ parameters: DeflateParameters, _ wrapping: DeflateWrapping) {
        (self.content, self.parameters, self.wrapping) = (content, parameters, wrapping)
    }

    /// The value; `nil` if zlib would try more places for matches than are allowed.
    package var value: [UInt8]? {
        DeflateReplay.deflated(content, with: parameters, trying: content.count * Self.triesPerByte).map {
            wrapping.head(parameters) + $0 + wrapping.tail(content)
        }
    }

    /// Finds how a value is made, and proves it by making it.
    ///
    /// - Parameters:
    ///   - value: Any bytes.
    ///   - limit: The most bytes that it may stand for, below 2 GiB.
    ///   - hint: The parameters of the value before, which are tried first if the value does not rule them out.
    /// - Returns: `nil` if it is not one stream to its last byte, if zlib does not make it in one go, or if it takes too long to find out.
    package init?(of value: ArraySlice<UInt8>, limit: Int, hint: DeflateParameters? = nil) {
        var vain = Int.max
        self.init(of: value, content: nil, limit: limit, hint: hint, in: MatchTables(), vain: &vain)
    }

    /// - Parameters:
    ///   - content: What zlib has made of the value; `nil` if it has not been inflated yet.
    ///   - tables: Memory for the trials.
    ///   - vain: How many places may still be tried for values that turn out to be made otherwise; once there are none, an eighth is tried
    ///     for each value, which is enough for the hint.
    init?(
        of value: ArraySlice<UInt8>, content: [UInt8]?, limit: Int, hint: DeflateParameters?, in tables: MatchTables,
        vain: inout Int
    ) {
        let wrapping = DeflateWrapping(of: value)
        guard value.count >= Self.shortest, value.count > wrapping.headSize + wrapping.tailSize else { return nil }
        let raw = value.dropFirst(wrapping.headSize).dropLast(wrapping.tailSize)
        guard let stream = InflatedStream(raw, content: content, limit: limit),
            value.suffix(wrapping.tailSize).elementsEqual(wrapping.tail(stream.content))
        else { return nil }
        tables.hold(stream.content)
        let possible = PossibleParameters(stream, wrapping, value)
        let most = stream.content.count * Self.triesPerByte
        let tries = vain > 0 ? most + Self.leastTries : most / 8
        var left = tries
        guard let parameters = Self.parameters(of: raw, stream, possible, hint, tables, &left) else {
            vain -= tries - left
            return nil
        }
        self.init(stream.content, parameters, wrapping)
    }

    /// - Parameter left: Places that may be tried.
    /// - Returns: The first of the possible parameters that make the stream again; the hint comes before all others.
    private static func parameters(
        of raw: ArraySlice<UInt8>, _ stream: InflatedStream, _ possible: PossibleParameters, _ hint: DeflateParameters?,
        _ tables: MatchTables, _ left: inout Int
    ) -> DeflateParameters? {
        var ruledOut: Set<Int> = []
        if let hint, possible.contains(hint) {
            if makesAgain(raw, stream, hint, tables, &left, &ruledOut) { return hint }
            guard left > 0 else { return nil }
        }
        for parameters in possible.all where parameters != hint && !ruledOut.contains(parameters.windowBits) {
            if makesAgain(raw, stream, parameters, tables, &left, &ruledOut) { return parameters }
            guard left > 0 else { return nil }
        }
        return nil
    }

    /// - Parameters:
    ///   - left: Places that may be tried.
    ///   - ruledOut: Windows with which no parameters make the stream. The function adds the window if zlib writes the same tokens as other
    ///     bits. Only another window can change that: a block that zlib wants to store may have left the window.
    private static func makesAgain(
        _ raw: ArraySlice<UInt8>, _ stream: InflatedStream, _ parameters: DeflateParameters, _ tables: MatchTables,
        _ left: inout Int, _ ruledOut: inout Set<Int>
    ) -> Bool {
        var deflate = DeflateReplay(in: tables, with: parameters)
        defer { left -= deflate.tried }
        var written = 0
        for block in stream.blocks {
            // The tokens of a stored block do not show.
            let tokens = block.kind == .stored ? nil : stream.tokens[block.tokens]
            var compared = 0
            while !deflate.isFilled {
                deflate.fill(to: compared + step)
                guard deflate.tried <= left else { return false }
                if let tokens {
                    guard
                        deflate.tokens[compared...].elementsEqual(
                            tokens.dropFirst(compared).prefix(deflate.tokens.count - compared))
                    else { return false }
                }
                compared = deflate.tokens.count
            }
            guard tokens == nil || compared == block.tokens.count else { return false }
            deflate.writeBlock()
            left -= blockTries
            let end = deflate.stream.count
            guard end <= raw.count,
                deflate.stream[written...].elementsEqual(raw.dropFirst(written).prefix(end - written))
            else {
                if tokens != nil { ruledOut.insert(parameters.windowBits) }
                return false
            }
            written = end
            if deflate.isAtEnd { break }
        }
        return deflate.isAtEnd && written == raw.count && deflate.tried <= stream.content.count * triesPerByte
    }
}

/// The parameters that can have made a value: at most all levels with all memory levels and two windows.
private struct PossibleParameters {
    private let wrapping: DeflateWrapping
    private let value: ArraySlice<UInt8>
    private let levels: [Int]
    private let memoryLevels: [Int]
    private let windows: [Int]

    init(_ stream: InflatedStream, _ wrapping: DeflateWrapping, _ value: ArraySlice<UInt8>) {
        (self.wrapping, self.value) = (wrapping, value)
        memoryLevels = stream.memoryLevels
        if wrapping == .zlib {
            let head = Array(value.prefix(2))
            levels = DeflateWrapping.zlibLevels[Int(head[1] >> 6)]
            windows = [Int(head[0] >> 4) + 8]
        } else {
            levels = wrapping.likelyLevels
            windows = stream.windows
        }
    }

    func contains(_ parameters: DeflateParameters) -> Bool {
        memoryLevels.contains(parameters.memoryLevel) && windows.contains(parameters.windowBits)
            && levels.contains(parameters.level) && fitsHead(parameters)
    }

    /// The likeliest first.
    var all: [DeflateParameters] {
        memoryLevels.flatMap { memoryLevel in
            windows.flatMap { window in
                levels.compactMap { DeflateParameters(level: $0, memoryLevel: memoryLevel, windowBits: window) }
            }
        }.filter(fitsHead)
    }

    private func fitsHead(_ parameters: DeflateParameters) -> Bool {
        wrapping != .zlib || value.starts(with: wrapping.head(parameters))
    }
}

extension DeflateWrapping {
    /// Levels, the likeliest first: Core Data's, zlib's default, then the smallest and the fastest.
    fileprivate var likelyLevels: [Int] {
        let levels = [5, 6, 9, 1, 4, 3, 2, 7, 8]
        guard case .gzip(let head) = self else { return levels }
        // XFL: the slowest, the fastest, or neither.
        let first = head[8] == 2 ? 9 : head[8] == 4 ? 1 : 6
        return [first] + levels.filter { $0 != first }
    }
}

/// The content of a raw deflate stream that zlib may have made, and its tokens and blocks.
private struct InflatedStream {
    private(set) var content: [UInt8] = []
    private(set) var tokens: [DeflateToken] = []
    /// The tokens of each block; of a stored block each byte is one.
    private(set) var blocks: [(kind: DeflateBlockKind, tokens: Range<Int>)] = []
    /// How far back the farthest match begins, in bytes.
    private(set) var farthest = 0

    /// - Parameters:
    ///   - stream: Must be used to its last byte.
    ///   - content: What zlib has made of it; `nil` if it has not been inflated yet.
    ///   - limit: The most bytes that it may stand for; no memory is taken for more.
    /// - Returns: `nil` if it is no stream, stands for more, or has blocks that are too short for zlib.
    init?(_ stream: ArraySlice<UInt8>, content inflated: [UInt8]?, limit: Int) {
        var reader = DeflateReader(Array(stream))
        let shortest = DeflateParameters.tokensPerBlock(memoryLevel: DeflateParameters.memoryLevels.lowerBound)
        var size = 0
        repeat {
            let start = tokens.count
            guard let kind = reader.readBlock(&tokens, to: limit + 1) else { return nil }
            blocks.append((kind, start..<tokens.count))
            guard reader.isAtEnd || tokens.count - start >= shortest,
                let far = Self.measure(tokens[start...], &size), size <= limit
            else { return nil }
            farthest = max(farthest, far)
        } while !reader.isAtEnd
        guard reader.used == stream.count, inflated.map({ $0.count == size }) ?? true else { return nil }
        if let inflated { content = inflated } else { content = Self.content(of: tokens, size) }
    }

    /// Adds up what tokens stand for.
    ///
    /// - Parameter size: What those before them stand for, in bytes.
    /// - Returns: How far back the farthest match begins; `nil` if one begins before the content.
    private static func measure(_ tokens: ArraySlice<DeflateToken>, _ size: inout Int) -> Int? {
        var farthest = 0
        for token in tokens {
            if token.isMatch {
                let distance = token.distance
                guard distance <= size else { return nil }
                farthest = max(farthest, distance)
            }
            size += token.byteCount
        }
        return farthest
    }

    /// The bytes that tokens stand for.
    ///
    /// Unsafe buffers, because this goes byte by byte.
    ///
    /// - Parameters:
    ///   - tokens: Measured: no match begins before the content.
    ///   - size: In bytes.
    private static func content(of tokens: [DeflateToken], _ size: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: size) { content, count in
            for token in tokens {
                guard token.isMatch else {
                    content[count] = UInt8(truncatingIfNeeded: token.symbol)
                    count &+= 1
                    continue
                }
                let distance = token.distance
                for place in count..<(count &+ token.byteCount) { content[place] = content[place &- distance] }
                count &+= token.byteCount
            }
        }
    }

    // MARK: What it tells of the parameters

    /// The memory levels that can have made it, the likeliest first.
    var memoryLevels: [Int] {
        let sizes = DeflateParameters.memoryLevels.map {
            (level: $0, tokens: DeflateParameters.tokensPerBlock(memoryLevel: $0))
        }
        let least = blocks.last.map { $0.kind == .stored ? 0 : $0.tokens.count } ?? 0
        let possible = sizes.filter { $0.tokens >= least }
        let full = blocks.dropLast()
        if let first = full.first(where: { $0.kind != .stored })?.tokens.count {
            // All full blocks have the same number of tokens, and a stored block has at least as many bytes.
            guard full.allSatisfy({ $0.kind == .stored ? $0.tokens.count >= first : $0.tokens.count == first }) else {
                return []
            }
            return possible.filter { $0.tokens == first }.map(\.level)
        }
        if let shortest = full.map(\.tokens.count).min() {
            // Of stored bytes few were in matches.
            return possible.last { $0.tokens <= shortest }.map { [$0.level] } ?? []
        }
        let levels = possible.map(\.level)
        return [8, 9].filter(levels.contains) + levels.reversed().filter { $0 < 8 }
    }

    /// The windows that can have made a stream that does not tell: the largest, and the least that reaches far enough.
    var windows: [Int] {
        let least = DeflateParameters.windows.first { DeflateParameters.reach(windowBits: $0) >= farthest }
        let largest = DeflateParameters.windows.upperBound
        guard let least else { return [] }
        // In content that is no larger than a window, all windows make the same.
        return content.count > DeflateParameters.reach(windowBits: least) && least < largest
            ? [largest, least] : [largest]
    }
}
