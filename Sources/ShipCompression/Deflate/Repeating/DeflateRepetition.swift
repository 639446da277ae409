/// A value that is one deflate stream, taken apart so that it can be made again to the last bit.
package struct DeflateRepetition: Hashable, Sendable {
    package let wrapping: DeflateWrapping
    package let parameters: DeflateParameters
    /// What the stream stands for.
    package let content: [UInt8]

    /// Fewer bytes are not tried.
    static let shortest = 64
    /// Most places that may be tried for matches, over all trials, for each byte of the content, and in any case.
    private static let tries = (perByte: 128, least: 1 << 16)
    /// After so many tokens a trial is looked at.
    private static let step = 256

    /// - Parameter content: Below 2 GiB.
    package init(_ content: [UInt8], _ parameters: DeflateParameters, _ wrapping: DeflateWrapping) {
        (self.content, self.parameters, self.wrapping) = (content, parameters, wrapping)
    }

    /// The value.
    package var value: [UInt8] {
        wrapping.head(parameters) + RepeatedDeflate.deflated(content, with: parameters) + wrapping.tail(content)
    }

    /// Finds how a value is made, and proves it by making it.
    ///
    /// - Parameters:
    ///   - value: Whatever it is.
    ///   - limit: Most bytes that it may stand for, below 2 GiB.
    ///   - hint: What is tried first, if the value does not rule it out: what the one before it was made with.
    /// - Returns: `nil` if it is not one stream to its last byte, or not one that zlib makes in one go, or takes too long to find out.
    package init?(of value: ArraySlice<UInt8>, limit: Int, hint: DeflateParameters? = nil) {
        let wrapping = DeflateWrapping(of: value)
        guard value.count >= Self.shortest, value.count > wrapping.headSize + wrapping.tailSize else { return nil }
        let raw = value.dropFirst(wrapping.headSize).dropLast(wrapping.tailSize)
        guard let stream = InflatedStream(raw, limit: limit),
            value.suffix(wrapping.tailSize).elementsEqual(wrapping.tail(stream.content))
        else { return nil }
        var left = stream.content.count * Self.tries.perByte + Self.tries.least
        var ruledOut: Set<Int> = []
        for parameters in Self.trials(stream, wrapping, value, hint) where !ruledOut.contains(parameters.windowBits) {
            switch Self.attempt(parameters, stream, raw, &left) {
            case .same:
                self.init(stream.content, parameters, wrapping)
                return
            case .otherTokens: break
            case .otherBits: ruledOut.insert(parameters.windowBits)
            }
            guard left > 0 else { return nil }
        }
        return nil
    }

    /// What can have made the value, the likeliest first: at most all levels with all memory levels and two windows.
    private static func trials(
        _ stream: InflatedStream, _ wrapping: DeflateWrapping, _ value: ArraySlice<UInt8>, _ hint: DeflateParameters?
    ) -> [DeflateParameters] {
        var (levels, windows) = (wrapping.likelyLevels, stream.windows)
        if wrapping == .zlib {
            let head = Array(value.prefix(2))
            levels = DeflateWrapping.zlibLevels[Int(head[1] >> 6)]
            windows = [Int(head[0] >> 4) + 8]
        }
        let trials = stream.memoryLevels.flatMap { memoryLevel in
            windows.flatMap { window in
                levels.compactMap { DeflateParameters(level: $0, memoryLevel: memoryLevel, windowBits: window) }
            }
        }.filter { wrapping != .zlib || value.starts(with: wrapping.head($0)) }
        guard let hint, trials.contains(hint) else { return trials }
        return [hint] + trials.filter { $0 != hint }
    }

    private enum Outcome {
        case same
        case otherTokens
        /// The same tokens are written in another way: only another window, out of which a block may have gone that was to be stored,
        /// can change that.
        case otherBits
    }

    /// - Parameter left: Places that may be tried.
    private static func attempt(
        _ parameters: DeflateParameters, _ stream: InflatedStream, _ raw: ArraySlice<UInt8>, _ left: inout Int
    ) -> Outcome {
        var deflate = RepeatedDeflate(stream.content, with: parameters)
        defer { left -= deflate.tried }
        var written = 0
        for block in stream.blocks {
            // What a stored block's tokens were does not show.
            let tokens = block.kind == .stored ? nil : stream.tokens[block.tokens]
            var compared = 0
            while !deflate.isFilled {
                deflate.fill(to: compared + step)
                guard deflate.tried <= left else { return .otherTokens }
                if let tokens {
                    guard
                        deflate.tokens[compared...].elementsEqual(
                            tokens.dropFirst(compared).prefix(deflate.tokens.count - compared))
                    else { return .otherTokens }
                }
                compared = deflate.tokens.count
            }
            guard tokens == nil || compared == block.tokens.count else { return .otherTokens }
            deflate.writeBlock()
            let end = deflate.stream.count
            guard end <= raw.count,
                deflate.stream[written...].elementsEqual(raw.dropFirst(written).prefix(end - written))
            else {
                return tokens == nil ? .otherTokens : .otherBits
            }
            written = end
            if deflate.isAtEnd { break }
        }
        return deflate.isAtEnd && written == raw.count ? .same : .otherTokens
    }
}

extension DeflateWrapping {
    /// Levels, the likeliest first: Core Data's, zlib's own, and those of people who want the smallest or the fastest.
    fileprivate var likelyLevels: [Int] {
        let levels = [5, 6, 9, 1, 4, 3, 2, 7, 8]
        guard case .gzip(let head) = self else { return levels }
        // XFL: the slowest, the fastest, or neither.
        let first = head[8] == 2 ? 9 : head[8] == 4 ? 1 : 6
        return [first] + levels.filter { $0 != first }
    }
}
