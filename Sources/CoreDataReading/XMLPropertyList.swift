import EssentialFoundation

/// XML property lists, as an app's `VersionInfo.plist` may be one.
///
/// They are read by FoundationEssentials, which is written in Swift alone. Foundation's own `PropertyListSerialization` finds
/// no type for an array when it is linked statically, and writes nothing then.
enum XMLPropertyList {
    static func value(of bytes: [UInt8]) -> PropertyListValue? {
        // The decoder traps at what is no UTF-8 in a number [swift-foundation, CodableUtilities.swift, `_decodeScalar`].
        guard isModest(bytes), String(validating: bytes, as: UTF8.self) != nil else { return nil }
        return (try? PropertyListDecoder().decode(Decoded.self, from: Data(bytes)))?.value
    }

    /// UTF-8 only, by its tags: what opens more than it closes is deep.
    private static func isModest(_ bytes: [UInt8]) -> Bool {
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

    /// A value of whatever kind; each kind is decoded from its own tags only.
    private struct Decoded: Decodable {
        let value: PropertyListValue

        init(from decoder: any Decoder) throws {
            if let container = try? decoder.container(keyedBy: AnyKey.self) {
                let pairs = try container.allKeys.map { key in
                    (key.stringValue, try container.decode(Decoded.self, forKey: key).value)
                }
                value = .dictionary(Dictionary(pairs) { first, _ in first })
                return
            }
            if var list = try? decoder.unkeyedContainer() {
                var values: [PropertyListValue] = []
                while !list.isAtEnd { values.append(try list.decode(Decoded.self).value) }
                value = .array(values)
                return
            }
            let container = try decoder.singleValueContainer()
            value = Self.scalar(in: container) ?? .other
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

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
