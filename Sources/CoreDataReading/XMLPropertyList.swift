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

/// How a binary property list writes what it holds, as `CFPropertyListCreateData` does.
///
/// Source: CFBinaryPList.c.
enum PropertyListBytes {
    /// Bytes for numbers up to this one: 1, 2, 4 or 8.
    static func width(_ most: Int) -> Int { most < 0x100 ? 1 : most < 0x1_0000 ? 2 : most < 0x1_0000_0000 ? 4 : 8 }

    /// The last bytes of a number, the highest first.
    static func number(_ number: some BinaryInteger, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// - Parameter kind: The high half.
    static func marker(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind << 4 | UInt8(count)] : [kind << 4 | 15] + integer(Int128(count))
    }

    /// An object that refers to no other.
    static func scalar(_ value: PropertyListValue) -> [UInt8] {
        switch value {
        case .string(let text):
            let units = Array(text.utf16)
            return units.allSatisfy { $0 < 0x80 }
                ? marker(0x5, units.count) + Array(text.utf8)
                : marker(0x6, units.count) + units.flatMap { number($0, 2) }
        case .data(let bytes): return marker(0x4, bytes.count) + bytes
        case .integer(let value): return integer(value)
        case .real(let value): return [0x23] + number(value.bitPattern, 8)
        case .date(let seconds): return [0x33] + number(seconds.bitPattern, 8)
        case .boolean(let flag): return [flag ? 0x09 : 0x08]
        case .array, .dictionary, .other: return [0x00]
        }
    }

    /// What is below 0 takes eight bytes, as numbers of fewer have no sign.
    private static func integer(_ value: Int128) -> [UInt8] {
        switch value {
        case 0..<0x100: [0x10] + number(value, 1)
        case 0x100..<0x1_0000: [0x11] + number(value, 2)
        case 0x1_0000..<0x1_0000_0000: [0x12] + number(value, 4)
        case Int128(Int64.min)...Int128(Int64.max): [0x13] + number(value, 8)
        default: [0x14] + number(value, 16)
        }
    }
}
