/// The canonical encoding of records: making it, and checking it.
///
/// Source: `Protocol/CANONICAL.md` section 2.
package enum CanonicalRecord {
    /// Appends the canonical form of a record.
    ///
    /// - Returns: Whether the record is sound; if not, nothing is appended.
    package static func append(_ record: Span<UInt8>, _ integers: IntegerForm, to output: inout [UInt8]) -> Bool {
        guard let isCanonical = isCanonical(record, integers) else { return false }
        guard !isCanonical else {
            record.withUnsafeBufferPointer { output.append(contentsOf: $0) }
            return true
        }
        var header: [UInt8] = []
        var body: [UInt8] = []
        var position = 0
        guard let headerSize = Varint.read(record, at: &position) else { return false }
        var value = Int(headerSize)
        while position < headerSize {
            guard let type = Varint.read(record, at: &position), let length = SerialType.length(type) else {
                return false
            }
            if SerialType.isInteger(type) {
                let integer = integer(type, in: record, at: value)
                append(integer, integers, header: &header, body: &body)
            } else {
                Varint.append(type, to: &header)
                record.extracting(value..<(value + length)).withUnsafeBufferPointer { body.append(contentsOf: $0) }
            }
            value += length
        }
        append(header: header, body, to: &output)
        return true
    }

    /// Appends a record of serial types and values, with the size of its header before it.
    package static func append(header: [UInt8], _ body: [UInt8], to output: inout [UInt8]) {
        Varint.append(UInt64(headerSizeWithItself(header.count)), to: &output)
        output += header
        output += body
    }

    /// Appends an integer to a record that is being made.
    package static func append(_ integer: Int64, _ integers: IntegerForm, header: inout [UInt8], body: inout [UInt8]) {
        let type = integers.serialType(of: integer)
        header.append(UInt8(type))
        for index in stride(from: (SerialType.length(type) ?? 0) - 1, through: 0, by: -1) {
            body.append(UInt8(truncatingIfNeeded: integer >> Int64(8 * index)))
        }
    }

    /// The size of a header with so many bytes of serial types, and with the varint that declares it.
    @inlinable
    package static func headerSizeWithItself(_ size: Int) -> Int {
        var whole = size + 1
        while Varint.length(of: UInt64(whole)) + size > whole { whole += 1 }
        return whole
    }

    /// An integer of a record, whose bytes begin at `position`. The caller has checked the header.
    @inlinable
    package static func integer(_ type: UInt64, in record: Span<UInt8>, at position: Int) -> Int64 {
        if type == SerialType.zero { return 0 }
        if type == SerialType.one { return 1 }
        let length = SerialType.length(type) ?? 0
        guard length > 0, position >= 0, position + length <= record.count else { return 0 }
        var value = Int64(Int8(bitPattern: record[unchecked: position]))
        for index in 1..<max(1, length) { value = value << 8 | Int64(record[unchecked: position + index]) }
        return value
    }

    /// Whether a record is canonical, for records with a short header: it returns `false` for the few with long headers or values.
    static func isShortAndCanonical(_ record: UnsafePointer<UInt8>, count: Int, _ integers: IntegerForm) -> Bool {
        guard count > 0 else { return false }
        let headerSize = Int(record[0])
        guard 1..<0x80 ~= headerSize, headerSize <= count else { return false }
        var position = 1
        var value = headerSize
        while position < headerSize {
            var type = Int(record[position])
            position += 1
            if type >= 0x80 {
                guard position < headerSize, record[position] < 0x80 else { return false }
                type = (type & 0x7F) << 7 | Int(record[position])
                position += 1
                // The fewest bytes: it would have fitted in one.
                guard type >= 0x80 else { return false }
            }
            if type >= SerialType.firstOfVariableLength {
                value += (type - 12) >> 1
            } else if type == SerialType.real {
                value += 8
            } else if type != SerialType.null {
                let length = Int(SerialType.numberLength(UInt64(type)))
                guard type < 10, value + length <= count,
                    isNarrowest(record + value, length: length, integers)
                else { return false }
                value += length
            }
        }
        return value == count
    }

    /// Whether no narrower integer type than that of this length (0, 1, 2, 3, 4, 6 or 8) holds an integer.
    @inline(__always)
    private static func isNarrowest(_ bytes: UnsafePointer<UInt8>, length: Int, _ integers: IntegerForm) -> Bool {
        if length == 0 { return integers == .modern }
        if length == 1 { return integers == .legacy || bytes[0] > 1 }
        var value = Int64(Int8(bitPattern: bytes[0]))
        for index in 1..<length { value = value << 8 | Int64(bytes[index]) }
        // The bits of the next narrower type.
        let bits: Int64 = length == 6 ? 32 : length == 8 ? 48 : Int64(8 * (length - 1))
        return (value << (64 - bits)) >> (64 - bits) != value
    }

    /// Whether no integer and no length of a record could be shorter.
    ///
    /// - Returns: `nil` for an unsound record.
    package static func isCanonical(_ record: Span<UInt8>, _ integers: IntegerForm) -> Bool? {
        var position = 0
        guard let headerSize = Varint.read(record, at: &position), headerSize >= UInt64(position),
            headerSize <= UInt64(record.count)
        else { return nil }
        let end = Int(headerSize)
        // 126 bytes of types could stand in a header of 128, whose size takes two bytes.
        var isCanonical = headerSizeWithItself(end - position) == end
        var value = end
        while position < end {
            let start = position
            guard let type = Varint.read(record, at: &position), let length = SerialType.length(type),
                value + length <= record.count
            else { return nil }
            if type >= SerialType.firstOfVariableLength || type == SerialType.real || type == SerialType.null {
                isCanonical = isCanonical && position - start == Varint.length(of: type)
            } else {
                let integer = integer(type, in: record, at: value)
                isCanonical = isCanonical && position - start == 1 && type == integers.serialType(of: integer)
            }
            value += length
        }
        guard position == end, value == record.count else { return nil }
        return isCanonical
    }
}
