/// The objects of one property list. A tree is read from the bytes of a list, or a decoder makes it of codes. A `PlistWriter` makes the
/// list.
struct PlistTree {
    enum Kind: UInt8 {
        case null
        case no
        case yes
        case integer
        case real
        case float
        case date
        case data
        case ascii
        case utf16
        case uid
        case array
        case dictionary
        /// An ASCII text that is among the names of keys; else as `ascii`.
        case name
    }

    /// An object, and what it takes to write it.
    struct Object: Hashable {
        let kind: Kind
        /// The bits of a number, a real or a date; for bytes, where they start in the buffer of their kind; for an array or a dictionary,
        /// the index of its first reference.
        let value: UInt64
        /// How many bytes, elements or columns it has. All keys of columns come before their values among the references. For an integer:
        /// which of the equal objects it is, from 0.
        let count: Int32

        init(_ kind: Kind, _ value: UInt64 = 0, count: Int = 0) {
            self.kind = kind
            self.value = value
            self.count = Int32(truncatingIfNeeded: count)
        }

        var firstReference: Int { Int(truncatingIfNeeded: value) }
    }

    var objects: [Object] = []
    /// Indexes of `objects`. The first is that of the top, and those of an archive's table follow where a decoder made it.
    var references: [Int32] = []
    // The buffer of each kind of bytes. In a tree that was read from a list they are one.
    var data: [UInt8] = []
    var ascii: [UInt8] = []
    var utf16: [UInt8] = []
    var names: [UInt8] = []

    /// - Returns: The bytes of data, of a text or of a name.
    func bytes(of object: Object) -> ArraySlice<UInt8> {
        let range = object.firstReference..<object.firstReference + Int(object.count)
        switch object.kind {
        case .ascii: return ascii[range]
        case .utf16: return utf16[range]
        case .name: return names[range]
        case .null, .no, .yes, .integer, .real, .float, .date, .data, .uid, .array, .dictionary:
            return data[range]
        }
    }

    /// Empties the tree, and keeps its memory.
    mutating func clear() {
        objects.removeAll(keepingCapacity: true)
        references.removeAll(keepingCapacity: true)
    }
}

extension PlistTree.Kind {
    /// Whether several references may lead to the object: where it comes again, its number stands.
    var isShared: Bool {
        switch self {
        case .real, .float, .date, .data, .ascii, .utf16, .name: true
        case .null, .no, .yes, .integer, .uid, .array, .dictionary: false
        }
    }
}

// MARK: From the bytes of a list

extension PlistTree {
    /// Makes a new tree that of a list. The comparison with what the writer makes of the tree shows whether the list is one of section 6 of
    /// `Protocol/LISTS.md`; reading checks only what it needs.
    ///
    /// - Returns: Whether each UID, null, false and true stands in the list as an object of its own; `nil` if the list would not come out
    ///   byte for byte.
    mutating func read(_ list: ArraySlice<UInt8>, by writer: inout PlistWriter) -> Bool? {
        guard list.count <= PlistWriter.longest, let eachAtom = read(list),
            writer.list(self, eachAtom: eachAtom, size: list.count).map({ $0[...] == list }) ?? false
        else { return nil }
        return eachAtom
    }

    /// - Returns: Whether there are equal UIDs, nulls, falses or trues; `nil` if it is no list.
    private mutating func read(_ list: ArraySlice<UInt8>) -> Bool? {
        let trailer = list.endIndex - PlistWriter.trailerSize
        guard list.count > PlistWriter.marker.count + PlistWriter.trailerSize, list.starts(with: PlistWriter.marker)
        else {
            return nil
        }
        let width = Int(list[trailer + 7])
        let number = list.number(at: trailer + 8, width: 8)
        guard [1, 2, 4].contains(width), number > 0, number <= UInt64(list.count) else { return nil }
        let buffer = Array(list)
        (data, ascii, utf16) = (buffer, buffer, buffer)
        references.append(0)
        // Each object takes a byte, and one for its offset.
        objects.reserveCapacity(min(Int(number), list.count / 2))
        let body = list[..<trailer]
        var hasEqualAtoms = false
        // Those of null, false and true, and those of UIDs less than the number of objects: nearly all.
        var hasAtom = [false, false, false]
        var hasUID = [Bool](repeating: false, count: Int(number))
        var largeUIDs: Set<UInt64> = []
        var variants: [UInt64: Int] = [:]
        var place = list.startIndex + PlistWriter.marker.count
        for _ in 0..<Int(number) {
            guard var object = object(in: body, at: &place, width: width, limit: Int(number)) else { return nil }
            switch object.kind {
            case .null, .no, .yes:
                if hasAtom[Int(object.kind.rawValue)] { hasEqualAtoms = true }
                hasAtom[Int(object.kind.rawValue)] = true
            case .uid where object.value < number:
                if hasUID[Int(object.value)] { hasEqualAtoms = true }
                hasUID[Int(object.value)] = true
            case .uid: if !largeUIDs.insert(object.value).inserted { hasEqualAtoms = true }
            case .integer:
                // Numbers of different types are different objects even if they are equal.
                let variant = variants[object.value, default: 0]
                guard variant <= PlistCode.otherIntegers.count else { return nil }
                variants[object.value] = variant + 1
                object = .init(.integer, object.value, count: variant)
            case .real, .float, .date, .data, .ascii, .utf16, .array, .dictionary, .name: break
            }
            objects.append(object)
        }
        return hasEqualAtoms
    }

    private mutating func object(in list: ArraySlice<UInt8>, at place: inout Int, width: Int, limit: Int) -> Object? {
        guard place < list.endIndex else { return nil }
        let marker = list[place]
        let (type, low) = (marker >> 4, Int(marker & 0xf))
        place += 1
        switch type {
        case 0: return low == 0 ? .init(.null) : low == 8 ? .init(.no) : low == 9 ? .init(.yes) : nil
        case 1:
            guard low <= 3, let value = take(1 << low, of: list, at: &place) else { return nil }
            return .init(.integer, value)
        case 2:
            guard low == 2 || low == 3, let value = take(1 << low, of: list, at: &place) else { return nil }
            return .init(low == 2 ? .float : .real, value)
        case 3:
            guard low == 3, let value = take(8, of: list, at: &place) else { return nil }
            return .init(.date, value)
        case 8:
            guard low <= 3, let value = take(low + 1, of: list, at: &place) else { return nil }
            return .init(.uid, value)
        default: break
        }
        var count = low
        if low == 15 {
            guard place < list.endIndex, list[place] & 0xf0 == 0x10, list[place] & 0xf <= 2 else { return nil }
            let power = Int(list[place] & 0xf)
            place += 1
            guard let value = take(1 << power, of: list, at: &place) else { return nil }
            count = Int(value)
        }
        let left = list.endIndex - place
        switch type {
        case 4, 5, 6:
            let size = type == 6 ? count * 2 : count
            guard size <= left else { return nil }
            let kind: Kind = type == 4 ? .data : type == 5 ? .ascii : .utf16
            if kind == .ascii, list[place..<place + size].contains(where: { $0 > 0x7f }) { return nil }
            let start = place - list.startIndex
            place += size
            return .init(kind, UInt64(start), count: size)
        case 10, 13:
            let number = type == 10 ? count : count * 2
            guard number <= left / width else { return nil }
            let first = references.count
            for _ in 0..<number {
                let reference = list.number(at: place, width: width)
                guard reference < UInt64(limit) else { return nil }
                references.append(Int32(truncatingIfNeeded: reference))
                place += width
            }
            return .init(type == 10 ? .array : .dictionary, UInt64(first), count: count)
        default: return nil
        }
    }

    private func take(_ width: Int, of list: ArraySlice<UInt8>, at place: inout Int) -> UInt64? {
        guard width <= list.endIndex - place else { return nil }
        defer { place += width }
        return list.number(at: place, width: width)
    }
}

extension ArraySlice<UInt8> {
    /// A big-endian number of `width` bytes, all within the slice.
    fileprivate func number(at place: Int, width: Int) -> UInt64 {
        var number: UInt64 = 0
        for place in place..<place + width { number = number << 8 | UInt64(self[place]) }
        return number
    }
}
