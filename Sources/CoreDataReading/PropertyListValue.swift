import EssentialFoundation

/// The content of a property list, in either format.
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
    /// A null, a UID or a set, which have no use here.
    case other

    /// Longest property list, in bytes. Core Data writes a few kilobytes.
    package static let mostBytes = 4 * 1024 * 1024
    /// Most levels of nested collections. Core Data needs three.
    package static let deepest = 16
    /// Most values of a list. A value counts each time that a collection refers to it.
    static let mostVisits = 200_000

    /// - Parameter bytes: An untrusted property list, binary or XML in UTF-8.
    /// - Returns: `nil` if it is not a property list, or exceeds a limit: it is too long, is nested too deeply, or has too many
    ///   values for its bytes.
    package init?(_ bytes: [UInt8]) {
        let value =
            BinaryPropertyList.begins(bytes) ? BinaryPropertyList(bytes)?.value : PropertyListValue(xml: bytes)
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

// MARK: XML

extension PropertyListValue {
    /// Reads an XML list, as an app's `VersionInfo.plist` may be one.
    ///
    /// FoundationEssentials reads it, which is written in Swift alone. Foundation's own `PropertyListSerialization` finds no type
    /// for an array when it is linked statically, and writes nothing then.
    private init?(xml bytes: [UInt8]) {
        // The decoder traps at a number that is not UTF-8 [swift-foundation, CodableUtilities.swift, `_decodeScalar`].
        guard Self.isWithinLimits(bytes), String(validating: bytes, as: UTF8.self) != nil,
            let value = try? PropertyListDecoder().decode(PropertyListValue.self, from: Data(bytes))
        else { return nil }
        self = value
    }

    /// Counts the open tags of a list in UTF-8, without decoding it.
    private static func isWithinLimits(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= PropertyListValue.mostBytes, bytes.first == UInt8(ascii: "<") else { return false }
        var (depth, index) = (0, 0)
        while index < bytes.count {
            defer { index += 1 }
            guard bytes[index] == UInt8(ascii: "<"), index + 1 < bytes.count else { continue }
            switch bytes[index + 1] {
            case UInt8(ascii: "/"): depth -= 1
            case UInt8(ascii: "?"), UInt8(ascii: "!"): break
            default:
                guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ">")) else { return false }
                if bytes[end - 1] != UInt8(ascii: "/") { depth += 1 }
                index = end
            }
            guard depth <= PropertyListValue.deepest else { return false }
        }
        return true
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension PropertyListValue: Decodable {
    /// Reads a value of any kind; each kind is decoded from its own tags only.
    package init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyKey.self) {
            let pairs = try container.allKeys.map { key in
                (key.stringValue, try container.decode(PropertyListValue.self, forKey: key))
            }
            self = .dictionary(Dictionary(pairs) { first, _ in first })
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var values: [PropertyListValue] = []
            while !list.isAtEnd { values.append(try list.decode(PropertyListValue.self)) }
            self = .array(values)
            return
        }
        let container = try decoder.singleValueContainer()
        self = Self.scalar(in: container) ?? .other
    }

    private static func scalar(in container: any SingleValueDecodingContainer) -> PropertyListValue? {
        if let text = try? container.decode(String.self) { return .string(text) }
        if let flag = try? container.decode(Bool.self) { return .boolean(flag) }
        if let number = try? container.decode(Int64.self) { return .integer(Int128(number)) }
        if let number = try? container.decode(UInt64.self) { return .integer(Int128(number)) }
        if let number = try? container.decode(Double.self) { return .real(number) }
        if let date = try? container.decode(Date.self) { return .date(date.timeIntervalSinceReferenceDate) }
        return (try? container.decode(Data.self)).map { .data(Array($0)) }
    }
}
