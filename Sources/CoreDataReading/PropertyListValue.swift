/// What a property list says, whatever its format.
package enum PropertyListValue: Hashable, Sendable {
    case string(String)
    case data([UInt8])
    case integer(Int128)
    case real(Double)
    /// Seconds since the beginning of 2001, UTC.
    case date(Double)
    case boolean(Bool)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])
    /// Of a kind that has no use here: a null, a UID, a set.
    case other

    /// Longest property list, in bytes. Core Data writes a few kilobytes.
    package static let mostBytes = 4 * 1024 * 1024
    /// Collections in collections. Core Data needs three.
    package static let deepest = 16
    /// Values that are reached from the top one, each time that they are.
    static let mostVisits = 200_000

    /// - Parameter bytes: A property list that nobody vouches for, binary or XML in UTF-8.
    /// - Returns: `nil` if it is none, or beyond a limit: too long, nested too deeply, or one in which few bytes stand for
    ///   many values.
    package init?(_ bytes: [UInt8]) {
        let value =
            BinaryPropertyList.begins(bytes) ? BinaryPropertyList(bytes)?.value : XMLPropertyList.value(of: bytes)
        guard let value else { return nil }
        self = value
    }

    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package var data: [UInt8]? {
        guard case .data(let bytes) = self else { return nil }
        return bytes
    }

    package var integer: Int? {
        guard case .integer(let number) = self else { return nil }
        return Int(exactly: number)
    }

    package var array: [PropertyListValue]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    package var dictionary: [String: PropertyListValue]? {
        guard case .dictionary(let values) = self else { return nil }
        return values
    }
}
