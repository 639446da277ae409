/// Puts a list together from its objects.
///
/// Source: `Protocol/LISTS.md` 6.
struct PlistWriter {
    static let marker = Array("bplist00".utf8)
    static let trailerSize = 32
    /// A longer list goes as it is. In bytes.
    static let longest = 1_048_576

    /// By object: its number; -1 before it has one.
    private var numbers: [Int32] = []
    /// By number: the object.
    private var ordered: [Int32] = []
    private var integers: [PlistTree.Object: Int32] = [:]
    /// By UID, where it is less than the number of objects; -1 for none.
    private var uids: [Int32] = []
    private var largeUIDs: [UInt64: Int32] = [:]
    /// The numbers of null, false and true.
    private var atoms: [Int32] = [-1, -1, -1]
    private var offsets: [Int] = []
    /// The references that come next in each array and dictionary that was begun.
    private var open: [(next: Int, end: Int)] = []

    /// - Parameters:
    ///   - eachAtom: Whether each UID, null, false and true stands in the list as an object of its own.
    ///   - size: Bytes to reserve.
    /// - Returns: `nil` if the list would be too long, or two references lead to one array or dictionary.
    mutating func list(_ tree: borrowing PlistTree, eachAtom: Bool, size: Int = 0) -> [UInt8]? {
        guard number(tree, eachAtom: eachAtom) else { return nil }
        return written(tree, size)
    }

    /// Numbers the objects, in the order of section 6.
    private mutating func number(_ tree: borrowing PlistTree, eachAtom: Bool) -> Bool {
        numbers.removeAll(keepingCapacity: true)
        numbers.append(contentsOf: repeatElement(-1, count: tree.objects.count))
        ordered.removeAll(keepingCapacity: true)
        integers.removeAll(keepingCapacity: true)
        uids.removeAll(keepingCapacity: true)
        uids.append(contentsOf: repeatElement(-1, count: tree.objects.count))
        largeUIDs.removeAll(keepingCapacity: true)
        for atom in atoms.indices { atoms[atom] = -1 }
        open.removeAll(keepingCapacity: true)
        open.append((0, 1))
        while let last = open.last {
            guard last.next < last.end else {
                open.removeLast()
                continue
            }
            open[open.count - 1].next += 1
            let index = tree.references[last.next]
            let object = tree.objects[Int(index)]
            switch object.kind {
            case .null, .no, .yes:
                let atom = Int(object.kind.rawValue)
                if atoms[atom] < 0 {
                    atoms[atom] = take(index)
                } else if eachAtom {
                    _ = take(index)
                }
                numbers[Int(index)] = atoms[atom]
            case .integer:
                if let equal = integers[object] {
                    numbers[Int(index)] = equal
                } else {
                    integers[object] = take(index)
                }
            case .uid:
                if let equal = number(ofUID: object.value) {
                    if eachAtom { _ = take(index) }
                    numbers[Int(index)] = equal
                } else if object.value < UInt64(uids.count) {
                    uids[Int(object.value)] = take(index)
                } else {
                    largeUIDs[object.value] = take(index)
                }
            case .real, .float, .date, .data, .ascii, .utf16, .name:
                if numbers[Int(index)] < 0 { _ = take(index) }
            case .array, .dictionary:
                guard numbers[Int(index)] < 0 else { return false }
                _ = take(index)
                let references = Int(object.count) * (object.kind == .array ? 1 : 2)
                open.append((object.firstReference, object.firstReference + references))
            }
            guard ordered.count <= Self.longest else { return false }
        }
        return true
    }

    private func number(ofUID uid: UInt64) -> Int32? {
        guard uid < UInt64(uids.count) else { return largeUIDs[uid] }
        let number = uids[Int(uid)]
        return number < 0 ? nil : number
    }

    private mutating func take(_ index: Int32) -> Int32 {
        let number = Int32(truncatingIfNeeded: ordered.count)
        numbers[Int(index)] = number
        ordered.append(index)
        return number
    }

    private mutating func written(_ tree: borrowing PlistTree, _ size: Int) -> [UInt8]? {
        let width = Self.width(of: ordered.count)
        var list = Self.marker
        list.reserveCapacity(size)
        offsets.removeAll(keepingCapacity: true)
        for index in ordered {
            offsets.append(list.count)
            let object = tree.objects[Int(index)]
            let count = Int(object.count)
            switch object.kind {
            case .null: list.append(0x00)
            case .no: list.append(0x08)
            case .yes: list.append(0x09)
            case .integer: list.appendInteger(object.value)
            case .real:
                list.append(0x23)
                list.appendBigEndian(object.value, width: 8)
            case .float:
                list.append(0x22)
                list.appendBigEndian(object.value, width: 4)
            case .date:
                list.append(0x33)
                list.appendBigEndian(object.value, width: 8)
            case .data:
                list.appendHead(4, count)
                list += tree.bytes(of: object)
            case .ascii, .name:
                list.appendHead(5, count)
                list += tree.bytes(of: object)
            case .utf16:
                list.appendHead(6, count / 2)
                list += tree.bytes(of: object)
            case .uid:
                let width = object.value < 1 << 8 ? 1 : object.value < 1 << 16 ? 2 : 4
                list.append(0x80 | UInt8(width - 1))
                list.appendBigEndian(object.value, width: width)
            case .array, .dictionary:
                list.appendHead(object.kind == .array ? 10 : 13, count)
                let references = count * (object.kind == .array ? 1 : 2)
                for reference in tree.references[object.firstReference..<object.firstReference + references] {
                    list.appendBigEndian(UInt64(numbers[Int(reference)]), width: width)
                }
            }
            guard list.count <= Self.longest else { return nil }
        }
        let tableStart = list.count
        let offsetWidth = Self.width(of: tableStart)
        for offset in offsets { list.appendBigEndian(UInt64(offset), width: offsetWidth) }
        list.appendBigEndian(0, width: 6)
        list.append(UInt8(offsetWidth))
        list.append(UInt8(width))
        list.appendBigEndian(UInt64(ordered.count), width: 8)
        list.appendBigEndian(0, width: 8)
        list.appendBigEndian(UInt64(tableStart), width: 8)
        return list.count <= Self.longest ? list : nil
    }

    /// How many bytes numbers below `limit`, and offsets up to it, take.
    private static func width(of limit: Int) -> Int { limit < 1 << 8 ? 1 : limit < 1 << 16 ? 2 : 4 }
}

extension [UInt8] {
    fileprivate mutating func appendBigEndian(_ value: UInt64, width: Int) {
        var shift = width * 8
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    fileprivate mutating func appendInteger(_ value: UInt64) {
        let power = value < 1 << 8 ? 0 : value < 1 << 16 ? 1 : value < 1 << 32 ? 2 : 3
        append(0x10 | UInt8(power))
        appendBigEndian(value, width: 1 << power)
    }

    /// The marker of an object and its count.
    fileprivate mutating func appendHead(_ type: UInt8, _ count: Int) {
        append(type << 4 | UInt8(Swift.min(count, 15)))
        if count >= 15 { appendInteger(UInt64(count)) }
    }
}
