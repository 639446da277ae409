/// Reads the objects of property lists, for a writer to put them together again.
///
/// What it reads is checked as far as it takes to read it: whether a list is one that section 6 of `Protocol/LISTS.md` makes is said by the
/// comparison with what the writer makes of the tree.
struct ListParser {
    private var tree = ListTree()
    private var writer = ListWriter()

    /// A list that comes out again.
    struct Parsed {
        let tree: ListTree
        /// Whether each UID, null, false and true stands in it as an object of its own.
        let eachAtom: Bool
    }

    /// - Returns: `nil` if the list would not come out byte for byte.
    mutating func parsed(_ list: ArraySlice<UInt8>) -> Parsed? {
        guard list.count <= ListWriter.longest, let eachAtom = read(list),
            writer.list(tree, eachAtom: eachAtom).map({ $0[...] == list }) ?? false
        else { return nil }
        return Parsed(tree: tree, eachAtom: eachAtom)
    }

    /// - Returns: Whether there are equal UIDs, nulls, falses or trues; `nil` if it is no list.
    private mutating func read(_ list: ArraySlice<UInt8>) -> Bool? {
        let trailer = list.endIndex - ListWriter.trailerSize
        guard list.count > ListWriter.marker.count + ListWriter.trailerSize, list.starts(with: ListWriter.marker) else {
            return nil
        }
        let width = Int(list[trailer + 7])
        let number = list.number(at: trailer + 8, width: 8)
        guard [1, 2, 4].contains(width), number > 0, number <= UInt64(list.count) else { return nil }
        tree.clear()
        let buffer = Array(list)
        tree.bytes = ListTree.Bytes(data: buffer, ascii: buffer, utf16: buffer)
        tree.references.append(0)
        var atoms: Set<ListTree.Object> = []
        var hasEqualAtoms = false
        var variants: [UInt64: Int] = [:]
        var place = list.startIndex + ListWriter.marker.count
        for _ in 0..<Int(number) {
            guard var object = object(in: list[..<trailer], at: &place, width: width, objects: Int(number)) else {
                return nil
            }
            switch object.kind {
            case .uid, .null, .no, .yes: if !atoms.insert(object).inserted { hasEqualAtoms = true }
            case .integer:
                // Numbers of different types are no one object though they are equal.
                let variant = variants[object.value, default: 0]
                guard variant <= ListCode.otherIntegers.count else { return nil }
                variants[object.value] = variant + 1
                object = .init(.integer, object.value, count: variant)
            case .real, .float, .date, .data, .ascii, .utf16, .array, .dictionary, .name: break
            }
            tree.objects.append(object)
        }
        return hasEqualAtoms
    }

    private mutating func object(
        in list: ArraySlice<UInt8>, at place: inout Int, width: Int, objects: Int
    ) -> ListTree.Object? {
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
            let kind: ListTree.Kind = type == 4 ? .data : type == 5 ? .ascii : .utf16
            if kind == .ascii, list[place..<place + size].contains(where: { $0 > 0x7f }) { return nil }
            let start = place - list.startIndex
            place += size
            return .init(kind, UInt64(start), count: size)
        case 10, 13:
            let references = type == 10 ? count : count * 2
            guard references <= left / width else { return nil }
            let first = tree.references.count
            for _ in 0..<references {
                let reference = list.number(at: place, width: width)
                guard reference < UInt64(objects) else { return nil }
                tree.references.append(Int32(truncatingIfNeeded: reference))
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
        self[place..<place + width].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
