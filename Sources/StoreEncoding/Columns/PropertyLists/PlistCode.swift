/// The codes of a list say what an object is, or which UID stands where.
///
/// Source: `Protocol/LISTS.md` 3 (limits and streams) and 4 (codes).
enum PlistCode {
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
