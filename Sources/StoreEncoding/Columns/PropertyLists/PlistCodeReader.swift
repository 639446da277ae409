/// The codes of all lists of a column while a decoder reads them: in each context from front to back.
struct PlistCodeReader {
    private let codes: [UInt8]
    private var values: [Int64]
    /// By context: the next code, and the end.
    private var places: [(next: Int, end: Int)] = []
    /// How many codes are left beside those that announced elements and columns need.
    private var spare: Int

    /// - Parameters:
    ///   - codes: Context by context.
    ///   - counts: Of each context, at least 1; together as many as there are codes.
    init(codes: [UInt8], counts: [Int]) {
        self.codes = codes
        values = [Int64](repeating: 0, count: codes.count)
        spare = codes.count
        var place = 0
        for count in counts {
            places.append((place, place + count))
            place += count
        }
    }

    /// How many values a stream has.
    func count(of stream: PlistCode.Stream) -> Int {
        codes.reduce(0) { $0 + (PlistCode.stream(of: $1) == stream ? 1 : 0) }
    }

    /// - Parameter taken: As many as `count(of:)` says.
    mutating func give(_ taken: some Sequence<Int64>, to stream: PlistCode.Stream) {
        var left = taken.makeIterator()
        for (place, code) in codes.enumerated() where PlistCode.stream(of: code) == stream {
            values[place] = left.next() ?? 0
        }
    }

    /// The decoder calls it before it makes `count` slots, each of which takes a code.
    ///
    /// - Returns: `nil` if fewer codes are left beside those that were announced before.
    mutating func announce(_ count: Int64) -> Int? {
        guard count >= 0, count <= Int64(spare) else { return nil }
        spare -= Int(count)
        return Int(count)
    }

    /// - Returns: `nil` if the context has no more.
    mutating func next(in context: Int) -> (code: UInt8, value: Int64)? {
        guard context < places.count, places[context].next < places[context].end else { return nil }
        let place = places[context].next
        places[context].next += 1
        return (codes[place], values[place])
    }

    var contexts: Int { places.count }
    var isAtEnd: Bool { places.allSatisfy { $0.next == $0.end } }
}
