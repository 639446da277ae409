/// An object of a property list, as it is to be written.
indirect enum ListObject: Hashable {
    case null, no, yes
    case integer(Int64)
    /// An unsigned number in 16 bytes, as CoreFoundation writes those from 2^63 on.
    case large(UInt64)
    case real(Double)
    case float(Float)
    case date(Double)
    case data([UInt8])
    case text(String)
    case uid(Int)
    case array([ListObject])
    case set([ListObject])
    /// In the order of the keys.
    case dictionary([Pair])

    struct Pair: Hashable {
        let key: String
        let value: ListObject

        init(_ key: String, _ value: ListObject) { (self.key, self.value) = (key, value) }
    }
}

/// Writes binary property lists, by CFBinaryPList.c of swift-corelibs-foundation and not by the code under test.
struct PropertyListBytes {
    private enum Item {
        case leaf(ListObject)
        /// The numbers of its objects; those of the keys come first.
        case container(marker: UInt8, count: Int, references: [Int])
    }

    private var items: [Item] = []
    private var numbers: [ListObject: Int] = [:]
    private let isUniquing: Bool

    /// - Parameter isUniquing: Whether equal leaves are one object, as CoreFoundation writes them.
    static func of(_ root: ListObject, isUniquing: Bool = true) -> [UInt8] {
        var list = PropertyListBytes(isUniquing: isUniquing)
        _ = list.add(root)
        return list.bytes
    }

    private init(isUniquing: Bool) { self.isUniquing = isUniquing }

    private mutating func add(_ object: ListObject) -> Int {
        switch object {
        case .array(let elements): return add(elements, marker: 0xA0, count: elements.count)
        case .set(let elements): return add(elements, marker: 0xC0, count: elements.count)
        case .dictionary(let pairs):
            return add(pairs.map { .text($0.key) } + pairs.map(\.value), marker: 0xD0, count: pairs.count)
        default:
            if isUniquing, let number = numbers[object] { return number }
            items.append(.leaf(object))
            numbers[object] = items.count - 1
            return items.count - 1
        }
    }

    private mutating func add(_ objects: [ListObject], marker: UInt8, count: Int) -> Int {
        let place = items.count
        items.append(.container(marker: marker, count: count, references: []))
        let references = objects.map { add($0) }
        items[place] = .container(marker: marker, count: count, references: references)
        return place
    }

    private var bytes: [UInt8] {
        var bytes = Array("bplist00".utf8)
        let width = Self.width(of: items.count)
        var offsets: [Int] = []
        for item in items {
            offsets.append(bytes.count)
            switch item {
            case .leaf(let leaf): Self.append(leaf, to: &bytes)
            case .container(let marker, let count, let references):
                Self.append(marker, count, to: &bytes)
                for reference in references { bytes += Self.bigEndian(UInt64(reference), width) }
            }
        }
        let table = bytes.count
        let offsetWidth = Self.width(of: table)
        for offset in offsets { bytes += Self.bigEndian(UInt64(offset), offsetWidth) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(width)]
        return bytes + Self.bigEndian(UInt64(items.count), 8) + Self.bigEndian(0, 8) + Self.bigEndian(UInt64(table), 8)
    }

    private static func width(of limit: Int) -> Int { limit < 1 << 8 ? 1 : limit < 1 << 16 ? 2 : 4 }

    private static func bigEndian(_ value: UInt64, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }

    private static func append(_ marker: UInt8, _ count: Int, to bytes: inout [UInt8]) {
        bytes.append(marker | UInt8(min(count, 15)))
        if count >= 15 { append(.integer(Int64(count)), to: &bytes) }
    }

    private static func append(_ leaf: ListObject, to bytes: inout [UInt8]) {
        switch leaf {
        case .null: bytes.append(0x00)
        case .no: bytes.append(0x08)
        case .yes: bytes.append(0x09)
        case .integer(let value):
            let power = value < 0 ? 3 : value < 1 << 8 ? 0 : value < 1 << 16 ? 1 : value < 1 << 32 ? 2 : 3
            bytes.append(0x10 | UInt8(power))
            bytes += bigEndian(UInt64(bitPattern: value), 1 << power)
        case .large(let value): bytes += [0x14] + bigEndian(0, 8) + bigEndian(value, 8)
        case .real(let value): bytes += [0x23] + bigEndian(value.bitPattern, 8)
        case .float(let value): bytes += [0x22] + bigEndian(UInt64(value.bitPattern), 4)
        case .date(let value): bytes += [0x33] + bigEndian(value.bitPattern, 8)
        case .data(let data):
            append(0x40, data.count, to: &bytes)
            bytes += data
        case .text(let text) where text.utf8.allSatisfy({ $0 < 0x80 }):
            append(0x50, text.utf8.count, to: &bytes)
            bytes += text.utf8
        case .text(let text):
            append(0x60, text.utf16.count, to: &bytes)
            for unit in text.utf16 { bytes += bigEndian(UInt64(unit), 2) }
        case .uid(let uid):
            let width = uid < 1 << 8 ? 1 : uid < 1 << 16 ? 2 : 4
            bytes += [0x80 | UInt8(width - 1)] + bigEndian(UInt64(uid), width)
        case .array, .set, .dictionary: break
        }
    }
}
