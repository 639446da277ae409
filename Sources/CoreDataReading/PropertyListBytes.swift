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
