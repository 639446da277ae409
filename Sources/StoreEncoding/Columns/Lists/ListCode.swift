/// The codes of a list say what an object is, or which UID stands where.
///
/// Source: `Protocol/LISTS.md` 3 (limits and streams) and 4 (codes).
enum ListCode {
    static let new: UInt8 = 0
    static let later: UInt8 = 1
    static let explicit: UInt8 = 2
    static let visit: UInt8 = 3
    static let integer: UInt8 = 4
    static let real: UInt8 = 5
    static let date: UInt8 = 6
    static let data: UInt8 = 7
    static let ascii: UInt8 = 8
    static let utf16: UInt8 = 9
    static let array: UInt8 = 10
    static let dictionary: UInt8 = 11
    static let shared: UInt8 = 12
    static let table: UInt8 = 13
    static let uid: UInt8 = 14
    static let float: UInt8 = 15
    static let previous: UInt8 = 16
    static let null: UInt8 = 17
    static let no: UInt8 = 18
    static let yes: UInt8 = 19
    /// Integers that are objects apart from equal ones.
    static let otherIntegers: Range<UInt8> = 20..<24
    static let ancestors: Range<UInt8> = 24..<32
    static let columnsOfRow: Range<UInt8> = 32..<64
    static let columnsOfParent: Range<UInt8> = 64..<96
    static let beside: Range<UInt8> = 96..<128

    /// The streams from which codes take their values, in their order in a segment.
    enum Stream: Int, CaseIterable {
        case uids
        case numbers
        case sizes
        case shapes
        case shared
        case reals
        case ascii
        case utf16
        case data
    }

    /// - Returns: `nil` for a code that takes none.
    static func stream(of code: UInt8) -> Stream? {
        switch code {
        case explicit, visit: .uids
        case integer, uid, float: .numbers
        case array: .sizes
        case dictionary: .shapes
        case shared: .shared
        case real, date: .reals
        case ascii: .ascii
        case utf16: .utf16
        case data: .data
        case _ where otherIntegers.contains(code): .numbers
        default: nil
        }
    }

    // MARK: Limits

    static let mostNames = 65_536
    static let mostShapes = 65_536
    static let mostColumns = 32_767
    static let mostColumnsInAll = 1_048_576
    static let mostContexts = 1_048_576
    static let mostCodes = 2_097_152
}

/// The codes of all lists of a column while a decoder reads them: in each context from front to back.
struct ListCodeReader {
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
    func count(of stream: ListCode.Stream) -> Int {
        codes.reduce(0) { $0 + (ListCode.stream(of: $1) == stream ? 1 : 0) }
    }

    /// - Parameter taken: As many as `count(of:)` says.
    mutating func give(_ taken: some Sequence<Int64>, to stream: ListCode.Stream) {
        var left = taken.makeIterator()
        for (place, code) in codes.enumerated() where ListCode.stream(of: code) == stream {
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
