/// A binary property list: numbered objects; collections refer to their members by these numbers.
///
/// Source: the comment at the head of CFBinaryPList.c (github.com/swiftlang/swift-corelibs-foundation).
struct BinaryPropertyList {
    private static let magic = Array("bplist0".utf8)
    /// The magic and the version, `bplist00`.
    static let headSize = 8
    static let trailerSize = 32
    /// Most bytes of all strings and data of a list. An object counts each time that a collection refers to it.
    private static let mostContent = 2 * PropertyListValue.mostBytes

    let bytes: [UInt8]
    let objectCount: Int
    let top: Int
    private let offsetSize: Int
    private let referenceSize: Int
    private let table: Int

    static func begins(_ bytes: [UInt8]) -> Bool { bytes.starts(with: magic) }

    /// - Returns: `nil` if the head or the trailer is damaged. The objects are checked when they are read.
    init?(_ bytes: [UInt8]) {
        let trailer = bytes.count - Self.trailerSize
        guard Self.begins(bytes), trailer >= Self.headSize, bytes.count <= PropertyListValue.mostBytes else {
            return nil
        }
        func word(_ offset: Int) -> Int? { Self.number(bytes[offset..<(offset + 8)]) }
        guard let objectCount = word(trailer + 8), let top = word(trailer + 16), let table = word(trailer + 24),
            (1...8).contains(bytes[trailer + 6]), (1...8).contains(bytes[trailer + 7]),
            table >= Self.headSize, table <= trailer, top < objectCount,
            objectCount <= (trailer - table) / Int(bytes[trailer + 6])
        else { return nil }
        self.bytes = bytes
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        self.objectCount = objectCount
        self.top = top
        self.table = table
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(exactly: bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }

    private func number(at offset: Int, _ size: Int) -> Int? {
        guard offset >= 0, size <= 8, size <= table - offset else { return nil }
        return Self.number(bytes[offset..<(offset + size)])
    }

    /// The place of one object in `bytes`.
    struct Object {
        /// The high half of the marker.
        let kind: UInt8
        /// The low half of the marker, or the number that follows it.
        let count: Int
        /// The content, or the references.
        let body: Range<Int>
        /// The whole object, from its marker on.
        let extent: Range<Int>
    }

    /// - Returns: `nil` for an object that is missing, truncated, or of an unknown kind.
    func object(_ number: Int) -> Object? {
        guard number < objectCount, let start = Self.number(bytes[entry(number)]), start >= Self.headSize, start < table
        else { return nil }
        let kind = bytes[start] >> 4
        var count = Int(bytes[start] & 15)
        var next = start + 1
        if count == 15, [0x4, 0x5, 0x6, 0xA, 0xB, 0xC, 0xD].contains(kind) {
            guard next < table, bytes[next] >> 4 == 1, bytes[next] & 15 <= 3 else { return nil }
            let size = 1 << Int(bytes[next] & 15)
            guard let long = self.number(at: next + 1, size) else { return nil }
            (count, next) = (long, next + 1 + size)
        }
        guard let size = size(kind, count), size <= table - next else { return nil }
        return Object(kind: kind, count: count, body: next..<(next + size), extent: start..<(next + size))
    }

    private func entry(_ number: Int) -> Range<Int> {
        (table + number * offsetSize)..<(table + (number + 1) * offsetSize)
    }

    /// The bytes of an object's body; `nil` for an unknown kind, or a count beyond the whole list.
    private func size(_ kind: UInt8, _ count: Int) -> Int? {
        guard count <= bytes.count else { return nil }
        switch kind {
        case 0x0: return 0
        case 0x1: return count <= 4 ? 1 << count : nil
        case 0x2: return count == 2 || count == 3 ? 1 << count : nil
        case 0x3: return count == 3 ? 8 : nil
        case 0x4, 0x5: return count
        case 0x6: return 2 * count
        case 0x8: return count + 1
        case 0xA, 0xB, 0xC: return count * referenceSize
        case 0xD: return 2 * count * referenceSize
        default: return nil
        }
    }

    /// The numbers of the members of a collection; in a dictionary the keys come first, then the values.
    func references(of object: Object) -> [Int]? {
        guard object.kind >= 0xA else { return [] }
        // More than the limit of visits are not even listed.
        guard object.count <= PropertyListValue.mostVisits else { return nil }
        var references: [Int] = []
        for place in stride(from: object.body.lowerBound, to: object.body.upperBound, by: referenceSize) {
            guard let reference = number(at: place, referenceSize) else { return nil }
            references.append(reference)
        }
        return references
    }
}

extension BinaryPropertyList {
    var value: PropertyListValue? {
        var (visits, content) = (0, 0)
        return value(of: top, depth: 0, &visits, &content)
    }

    private func value(of number: Int, depth: Int, _ visits: inout Int, _ content: inout Int) -> PropertyListValue? {
        visits += 1
        guard depth <= PropertyListValue.deepest, visits <= PropertyListValue.mostVisits, let object = object(number)
        else { return nil }
        guard object.kind >= 0xA else {
            content += object.body.count
            return content <= Self.mostContent ? scalar(object) : nil
        }
        guard let references = references(of: object) else { return nil }
        var values: [PropertyListValue] = []
        for reference in references {
            guard let value = value(of: reference, depth: depth + 1, &visits, &content) else { return nil }
            values.append(value)
        }
        switch object.kind {
        case 0xA: return .array(values)
        case 0xD:
            let pairs = zip(values.prefix(object.count), values.suffix(object.count)).compactMap { key, value in
                key.string.map { ($0, value) }
            }
            return .dictionary(Dictionary(pairs) { first, _ in first })
        default: return .other
        }
    }

    /// - Returns: `nil` if the object is not a string.
    func string(_ number: Int) -> String? {
        guard let object = object(number), object.kind < 0xA else { return nil }
        return scalar(object).string
    }

    private func scalar(_ object: Object) -> PropertyListValue {
        let body = bytes[object.body]
        func unsigned() -> UInt64 { body.reduce(0) { $0 << 8 | UInt64($1) } }
        switch (object.kind, object.count) {
        case (0x0, 8): return .boolean(false)
        case (0x0, 9): return .boolean(true)
        case (0x1, 0...2): return .integer(Int128(unsigned()))
        // Numbers of eight bytes and more have a sign.
        case (0x1, 3): return .integer(Int128(Int64(bitPattern: unsigned())))
        case (0x1, _): return .integer(Int128(truncatingIfNeeded: body.reduce(0 as UInt128) { $0 << 8 | UInt128($1) }))
        case (0x2, 2): return .real(Double(Float(bitPattern: UInt32(unsigned()))))
        case (0x2, _): return .real(Double(bitPattern: unsigned()))
        case (0x3, _): return .date(Double(bitPattern: unsigned()))
        case (0x4, _): return .data(Array(body))
        case (0x5, _): return .string(String(decoding: body, as: UTF8.self))
        case (0x6, _):
            let units = stride(from: body.startIndex, to: body.endIndex, by: 2).map {
                UInt16(body[$0]) << 8 | UInt16(body[$0 + 1])
            }
            return .string(String(decoding: units, as: UTF16.self))
        default: return .other
        }
    }
}

// MARK: Writing, as `CFPropertyListCreateData` does

extension BinaryPropertyList {
    /// The bytes that numbers up to this one take: 1, 2, 4 or 8.
    static func width(_ most: Int) -> Int { most < 0x100 ? 1 : most < 0x1_0000 ? 2 : most < 0x1_0000_0000 ? 4 : 8 }

    /// The last bytes of a number, big-endian.
    static func bytes(of number: some BinaryInteger, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// - Parameter kind: The high half of the marker.
    static func marker(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind << 4 | UInt8(count)] : [kind << 4 | 15] + integer(Int128(count))
    }

    /// The bytes of an object that refers to no other.
    static func scalar(_ value: PropertyListValue) -> [UInt8] {
        switch value {
        case .string(let text):
            let units = Array(text.utf16)
            return units.allSatisfy { $0 < 0x80 }
                ? marker(0x5, units.count) + Array(text.utf8)
                : marker(0x6, units.count) + units.flatMap { bytes(of: $0, 2) }
        case .data(let bytes): return marker(0x4, bytes.count) + bytes
        case .integer(let value): return integer(value)
        case .real(let value): return [0x23] + bytes(of: value.bitPattern, 8)
        case .date(let seconds): return [0x33] + bytes(of: seconds.bitPattern, 8)
        case .boolean(let flag): return [flag ? 0x09 : 0x08]
        case .array, .dictionary, .other: return [0x00]
        }
    }

    /// Negative numbers take eight bytes: shorter ones have no sign.
    private static func integer(_ value: Int128) -> [UInt8] {
        switch value {
        case 0..<0x100: [0x10] + bytes(of: value, 1)
        case 0x100..<0x1_0000: [0x11] + bytes(of: value, 2)
        case 0x1_0000..<0x1_0000_0000: [0x12] + bytes(of: value, 4)
        case Int128(Int64.min)...Int128(Int64.max): [0x13] + bytes(of: value, 8)
        default: [0x14] + bytes(of: value, 16)
        }
    }
}
