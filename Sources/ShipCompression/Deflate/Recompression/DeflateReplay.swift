/// Makes a deflate stream once more, to the last bit as zlib made it. It does not use the zlib that is installed, which may be another
/// version.
///
/// Source: `Protocol/DEFLATE.md`. Vectors: `deflate_*`.
struct DeflateReplay: ~Copyable {
    private let content: [UInt8]
    private let parameters: DeflateParameters
    private var parse: ReplayedTokens
    private var writer: DeflateWriter
    /// Where the block begins in the content.
    private var start = 0

    /// - Parameter tables: They hold the content. Nothing else uses them meanwhile.
    init(in tables: MatchTables, with parameters: DeflateParameters) {
        content = tables.content
        self.parameters = parameters
        parse = ReplayedTokens(in: tables, with: parameters)
        writer = DeflateWriter(capacity: tables.content.count / 2)
    }

    /// Tokens between two looks at how much has been tried.
    private static let step = 256

    /// One raw deflate stream (RFC 1951).
    ///
    /// - Parameters:
    ///   - content: Below 2 GiB.
    ///   - most: How many places may be tried.
    /// - Returns: `nil` if more would be.
    static func deflated(_ content: [UInt8], with parameters: DeflateParameters, trying most: Int = .max) -> [UInt8]? {
        let tables = MatchTables()
        tables.hold(content)
        var deflate = DeflateReplay(in: tables, with: parameters)
        while !deflate.isAtEnd {
            while !deflate.isFilled {
                deflate.fill(to: deflate.tokens.count + step)
                guard deflate.tried <= most else { return nil }
            }
            deflate.writeBlock()
        }
        return deflate.stream
    }

    /// The complete bytes that are written.
    var stream: [UInt8] { writer.stream }

    /// The tokens of the next block.
    var tokens: [DeflateToken] { parse.tokens }

    var isFilled: Bool { parse.isAtEnd || parse.tokens.count == parameters.tokensPerBlock }

    /// Whether the last block is written.
    private(set) var isAtEnd = false

    /// How many places were tried for matches: with the bytes of the content, the measure of the work.
    var tried: Int { parse.tried }

    mutating func fill(to count: Int) { parse.fill(to: min(count, parameters.tokensPerBlock)) }

    /// Writes the block, which must be complete.
    mutating func writeBlock() {
        let end = parse.end
        writer.writeAsZlib(
            parse.tokens[...], of: parse.isInWindow(start) ? content[start..<end] : nil, isLast: parse.isAtEnd)
        start = end
        isAtEnd = parse.isAtEnd
        parse.removeAll()
    }
}

extension DeflateWriter {
    /// Writes a block as the type that zlib takes for the shortest: it counts complete bytes.
    ///
    /// - Parameters:
    ///   - tokens: All of the block.
    ///   - bytes: What they stand for, at most 65,535; `nil` if they have left the window, so that zlib could not store them any more.
    mutating func writeAsZlib(_ tokens: ArraySlice<DeflateToken>, of bytes: ArraySlice<UInt8>?, isLast: Bool) {
        let counts = TokenCounts(tokens)
        let codes = BlockCodes(zlib: counts)
        let dynamic = Self.size(codes.bits(counts) + counts.extraBits)
        let fixed = Self.size(Self.fixedBits(counts) + counts.extraBits)
        let stored = bytes.flatMap { $0.count + 4 <= min(dynamic, fixed) ? $0 : nil }
        write(tokens, fixed <= dynamic ? nil : codes, storing: stored, isLast: isLast)
    }

    /// In bytes, with the three bits that a block begins with.
    private static func size(_ bits: Int) -> Int { (bits + 3 + 7) / 8 }
}

/// The literals and matches that zlib takes for content, one after the other.
///
/// zlib sees its input through a window of two halves. When it comes near the end of the second half, that becomes the first, and what was
/// in the first is out of reach. Here all content stands in one buffer, and `windowStart` is where zlib's window would begin: no match
/// begins there, or before.
///
/// Unsafe buffers, because this looks at each byte: no place is beyond `count`, and noted places are before the current one.
private struct ReplayedTokens: ~Copyable {
    /// Lazy levels take no match of three bytes that begins further back.
    private static let tooFar = 4096

    /// They own what the pointers lead to.
    private let tables: MatchTables
    private let content: UnsafeMutableRawPointer
    private let count: Int
    private let effort: MatchEffort
    private let windowSize: Int
    private let reach: Int
    private let hashMask: UInt32
    private let hashShift: UInt32
    /// The last place that was noted for each hash, plus `base`; 0 for none, and less than `base` if it is not of this content.
    private let heads: UnsafeMutablePointer<Int32>
    private let base: Int
    /// For each of the last places, as many as the window has bytes, the one before it with the same hash; none from 0 down.
    private let chain: UnsafeMutablePointer<Int32>
    private var windowStart = 0
    private var place = 0
    /// The match at the place before, which lazy levels have not taken yet; shorter than any match if there is none.
    private var match = (length: DeflateFormat.shortestMatch - 1, start: 0)
    /// Whether the byte before the place is in no token yet.
    private var isWaiting = false

    /// The tokens since the last block began.
    private(set) var tokens: [DeflateToken] = []
    /// Whether all content is in tokens.
    private(set) var isAtEnd = false
    /// How many places were tried.
    private(set) var tried = 0

    init(in tables: MatchTables, with parameters: DeflateParameters) {
        self.tables = tables
        base = tables.begin(parameters)
        (content, heads, chain) = (tables.bytes, tables.heads, tables.chain)
        count = tables.content.count
        effort = parameters.effort
        windowSize = parameters.windowSize
        reach = parameters.reach
        hashMask = 1 << UInt32(parameters.hashBits) - 1
        hashShift = UInt32((parameters.hashBits + 2) / 3)
        tokens.reserveCapacity(min(count, parameters.tokensPerBlock))
    }

    /// Where the tokens end in the content.
    var end: Int { isWaiting ? place - 1 : place }

    /// Whether zlib's window still holds a byte.
    func isInWindow(_ place: Int) -> Bool { place >= windowStart }

    /// Begins the next block.
    mutating func removeAll() { tokens.removeAll(keepingCapacity: true) }

    /// Goes on until there are `most` tokens, or all content is in them.
    mutating func fill(to most: Int) {
        while tokens.count < most, !isAtEnd {
            moveWindow()
            if place == count {
                if isWaiting { appendLiteral(place - 1) }
                isWaiting = false
                isAtEnd = true
            } else if effort.isLazy {
                stepLazily()
            } else {
                step()
            }
        }
    }

    /// zlib moves its window before it reads on, if the place is far enough in the second half. It does so even if there is no more input.
    @inline(__always)
    private mutating func moveWindow() {
        guard place &- windowStart >= windowSize &+ reach else { return }
        let read = min(count, windowStart &+ 2 &* windowSize)
        if read &- place < DeflateParameters.leastAhead { windowStart &+= windowSize }
    }

    // MARK: Levels 1 to 3

    /// Takes the match at the place, or the byte.
    @inline(__always)
    private mutating func step() {
        var length = 0
        if let earlier = noteWithinReach() {
            length = longestMatch(from: earlier, over: DeflateFormat.shortestMatch &- 1)
        }
        guard length >= DeflateFormat.shortestMatch else {
            appendLiteral(place)
            place &+= 1
            return
        }
        tokens.append(DeflateToken(length: length, distance: place &- match.start))
        let end = place &+ length
        if length <= effort.lazy, count &- end >= DeflateFormat.shortestMatch { note(from: place &+ 1, to: end) }
        place = end
    }

    // MARK: Levels 4 to 9

    /// Takes the match at the place before, unless there is a longer one here.
    @inline(__always)
    private mutating func stepLazily() {
        let before = match
        match.length = DeflateFormat.shortestMatch &- 1
        if let earlier = noteWithinReach(), before.length < effort.lazy {
            match.length = longestMatch(from: earlier, over: before.length)
            if match.length == DeflateFormat.shortestMatch, place &- match.start > Self.tooFar {
                match.length = DeflateFormat.shortestMatch &- 1
            }
        }
        if before.length >= DeflateFormat.shortestMatch, match.length <= before.length {
            tokens.append(DeflateToken(length: before.length, distance: place &- 1 &- before.start))
            let end = place &- 1 &+ before.length
            note(from: place &+ 1, to: min(end, count &- DeflateFormat.shortestMatch &+ 1))
            place = end
            match.length = DeflateFormat.shortestMatch &- 1
            isWaiting = false
        } else {
            if isWaiting { appendLiteral(place &- 1) }
            isWaiting = true
            place &+= 1
        }
    }

    @inline(__always)
    private mutating func appendLiteral(_ place: Int) {
        tokens.append(DeflateToken(literal: content.load(fromByteOffset: place, as: UInt8.self)))
    }

    // MARK: Places

    /// Notes the place.
    ///
    /// - Returns: The last place before it with the same hash, if a match may begin there.
    @inline(__always)
    private func noteWithinReach() -> Int? {
        guard count &- place >= DeflateFormat.shortestMatch else { return nil }
        let earlier = note(place)
        return earlier > windowStart && place &- earlier <= reach ? earlier : nil
    }

    @inline(__always)
    private func note(from start: Int, to end: Int) {
        var place = start
        while place < end {
            note(place)
            place &+= 1
        }
    }

    /// - Parameter place: At least three bytes before the end.
    @inline(__always) @discardableResult
    private func note(_ place: Int) -> Int {
        let bytes = content + place
        let hash =
            (UInt32(bytes.load(as: UInt8.self)) &<< (2 &* hashShift)
                ^ UInt32(bytes.load(fromByteOffset: 1, as: UInt8.self)) &<< hashShift
                ^ UInt32(bytes.load(fromByteOffset: 2, as: UInt8.self))) & hashMask
        let earlier = Int(heads[Int(hash)]) &- base
        chain[place & (windowSize &- 1)] = Int32(truncatingIfNeeded: earlier)
        heads[Int(hash)] = Int32(truncatingIfNeeded: place &+ base)
        return earlier
    }

    /// Tries places with the same hash, the nearest first, and sets `match.start` to where the longest match begins.
    ///
    /// - Parameters:
    ///   - first: Within reach.
    ///   - least: Only longer matches count; at least 2.
    /// - Returns: The length of the match, or no more than `least` if there is none.
    @inline(__always)
    private mutating func longestMatch(from first: Int, over least: Int) -> Int {
        let ahead = count &- place
        let most = min(DeflateFormat.longestMatch, ahead)
        guard least < most else { return most }
        let nice = min(effort.nice, ahead)
        let bound = max(place &- reach, windowStart)
        let (content, chain, mask) = (content, chain, windowSize &- 1)
        let here = UnsafeRawPointer(content + place)
        let start = here.loadUnaligned(as: UInt16.self)
        var best = least
        var end = here.loadUnaligned(fromByteOffset: best &- 1, as: UInt16.self)
        var candidate = first
        let depth = least >= effort.good ? effort.depth &>> 2 : effort.depth
        var left = depth
        repeat {
            let there = UnsafeRawPointer(content + candidate)
            left &-= 1
            if there.loadUnaligned(fromByteOffset: best &- 1, as: UInt16.self) == end,
                there.loadUnaligned(as: UInt16.self) == start
            {
                let length = here.commonLength(with: there, from: 2, atMost: most)
                if length > best {
                    match.start = candidate
                    best = length
                    if length >= nice { break }
                    end = here.loadUnaligned(fromByteOffset: best &- 1, as: UInt16.self)
                }
            }
            candidate = Int(chain[candidate & mask])
        } while candidate > bound && left != 0
        tried &+= depth &- left
        return best
    }
}
