extension ColumnDecoder {
    /// Property lists that were taken apart.
    ///
    /// Source: `Protocol/LISTS.md`.
    func propertyLists(
        _ count: Int, _ depth: Int, from source: inout SegmentSource
    ) throws(CompressionError) -> Strings {
        let depth = depth + 1
        let modes = try integers(count, depth: depth, from: &source)
        guard modes.allSatisfy({ (0...4).contains($0) }) else { throw .damaged(.segment) }
        let rest = try strings(modes.count { $0 == 0 }, depth: depth, areOfRows: false, from: &source)
        var decoder: ListDecoder?
        var whole = Strings()
        var plain = 0
        for mode in modes {
            guard mode > 0 else {
                try source.spend(bytes: rest[plain].count)
                whole.append(rest[plain])
                plain += 1
                continue
            }
            if decoder == nil {
                decoder = try ListDecoder(archives: modes.count { $0 == 2 || $0 == 4 }, depth, by: self, from: &source)
            }
            guard let list = try decoder?.list(isArchive: mode == 2 || mode == 4, eachAtom: mode > 2) else {
                throw .damaged(.segment)
            }
            try source.spend(bytes: list.count)
            whole.append(list)
        }
        guard decoder?.isAtEnd ?? true else { throw .damaged(.segment) }
        return whole
    }
}

/// Makes lists of what was written for all of a column.
private struct ListDecoder {
    private var tables: ArraySlice<Int64>
    private let names: Strings
    private let shapes: [ListShape]
    private var codes: ListCodeReader
    private let ascii: Strings
    private let utf16: Strings
    private let data: Strings
    private var walk: ListWalk
    private var writer = ListWriter()
    private var tree = ListTree()

    init(
        archives: Int, _ depth: Int, by columns: ColumnDecoder, from source: inout SegmentSource
    ) throws(CompressionError) {
        tables = try columns.integers(archives, depth: depth, from: &source)[...]
        names = try columns.strings(
            try source.control.count(limit: ListLimits.names), depth: depth, areOfRows: false, from: &source)
        guard names.isASCII else { throw .damaged(.segment) }
        shapes = try Self.shapes(names: names.count, depth, by: columns, from: &source)
        let contexts = try source.control.count(limit: ListLimits.contexts)
        let counts = try columns.integers(contexts, depth: depth, from: &source)
        var total: Int64 = 0
        for count in counts {
            guard count > 0, count <= Int64(ListLimits.codes) - total else { throw .damaged(.segmentLimit) }
            total += count
        }
        let given = try columns.integers(Int(total), depth: depth, from: &source)
        guard given.allSatisfy({ (0..<Int64(ListCode.beside.upperBound)).contains($0) }) else {
            throw .damaged(.segment)
        }
        codes = ListCodeReader(codes: given.map { UInt8(truncatingIfNeeded: $0) }, counts: counts.map { Int($0) })
        for stream in [ListCode.Stream.uids, .numbers, .sizes, .shapes, .shared] {
            codes.give(
                try columns.integers(codes.count(of: stream), depth: depth, from: &source), to: stream)
        }
        codes.give(
            try columns.reals(codes.count(of: .reals), depth: depth, from: &source).map { Int64(bitPattern: $0) },
            to: .reals)
        var texts: [Strings] = []
        for stream in [ListCode.Stream.ascii, .utf16, .data] {
            let count = codes.count(of: stream)
            codes.give((0..<count).lazy.map { Int64($0) }, to: stream)
            texts.append(try columns.strings(count, depth: depth, areOfRows: false, from: &source))
        }
        (ascii, utf16, data) = (texts[0], texts[1], texts[2])
        guard ascii.isASCII, utf16.lengths.allSatisfy({ $0 % 2 == 0 }) else { throw .damaged(.segment) }
        walk = ListWalk(shapes: shapes)
        tree.bytes = ListTree.Bytes(data: data.bytes, ascii: ascii.bytes, utf16: utf16.bytes, names: names.bytes)
    }

    private static func shapes(
        names: Int, _ depth: Int, by columns: ColumnDecoder, from source: inout SegmentSource
    ) throws(CompressionError) -> [ListShape] {
        let number = try source.control.count(limit: ListLimits.shapes)
        var total = 0
        let counts = try columns.integers(number, depth: depth, from: &source)
        for count in counts {
            guard count >= 0, count <= ListLimits.columns, Int(count) <= ListLimits.allColumns - total else {
                throw .damaged(.segmentLimit)
            }
            total += Int(count)
        }
        let keys = try columns.integers(total, depth: depth, from: &source)
        let steps = try columns.integers(total, depth: depth, from: &source)
        var shapes: [ListShape] = []
        var start = 0
        var lastUse = [Int](repeating: -1, count: names)
        for (index, count) in counts.enumerated() {
            let count = Int(count)
            var own: [Int] = []
            var order: [Int] = []
            var isVisited = [Bool](repeating: false, count: count)
            for place in 0..<count {
                guard let key = Int(exactly: keys[start + place]), key >= 0, key < names, lastUse[key] != index else {
                    throw .damaged(.segment)
                }
                lastUse[key] = index
                own.append(key)
                let (column, isOver) = steps[start + place].addingReportingOverflow(Int64(place))
                guard !isOver, column >= 0, column < Int64(count), !isVisited[Int(column)] else {
                    throw .damaged(.segment)
                }
                isVisited[Int(column)] = true
                order.append(Int(column))
            }
            shapes.append(ListShape(names: own, order: order))
            start += count
        }
        return shapes
    }

    var isAtEnd: Bool { codes.isAtEnd && walk.contexts == codes.contexts }

    /// The next list.
    mutating func list(isArchive: Bool, eachAtom: Bool) throws(CompressionError) -> [UInt8] {
        tree.clear()
        var size = 0
        if isArchive {
            guard let table = tables.popFirst(), let announced = codes.announce(table) else { throw .damaged(.segment) }
            size = announced
        }
        guard codes.announce(1) != nil else { throw .damaged(.segment) }
        tree.references = [Int32](repeating: -1, count: 1 + size)
        walk.begin(table: size, at: 1)
        var made = MadeObjects(isArchive: isArchive)
        while let slot = walk.next() {
            guard let (code, value) = codes.next(in: slot.context) else { throw .damaged(.segment) }
            tree.references[slot.reference] = try object(code, value, in: slot, &made)
        }
        guard made.hasTable == isArchive, let list = writer.list(tree, eachAtom: eachAtom) else {
            throw .damaged(.segment)
        }
        return list
    }

    /// What is kept of the objects of one list.
    private struct MadeObjects {
        let isArchive: Bool
        var hasTable = false
        /// In the order of their numbers.
        var shared: [Int32] = []
        /// By number of a name.
        var names: [Int: Int32] = [:]
        var texts: [ArraySlice<UInt8>: Int32] = [:]
    }

    /// - Returns: The index of the object that a code makes.
    private mutating func object(
        _ code: UInt8, _ value: Int64, in slot: ListWalk.Slot, _ made: inout MadeObjects
    ) throws(CompressionError) -> Int32 {
        let bits = UInt64(bitPattern: value)
        switch code {
        case ListCode.integer: return add(.init(.integer, bits))
        case _ where ListCode.otherIntegers.contains(code):
            return add(.init(.integer, bits, count: Int(code - ListCode.otherIntegers.lowerBound) + 1))
        case ListCode.real: return add(.init(.real, bits), to: &made)
        case ListCode.date: return add(.init(.date, bits), to: &made)
        case ListCode.float:
            guard bits < 1 << 32 else { throw .damaged(.segment) }
            return add(.init(.float, bits), to: &made)
        case ListCode.data: return add(object(.data, data, value), to: &made)
        case ListCode.utf16: return add(object(.utf16, utf16, value), to: &made)
        case ListCode.ascii:
            let text = add(object(.ascii, ascii, value), to: &made)
            let bytes = ascii[Int(value)]
            if made.texts[bytes] == nil { made.texts[bytes] = text }
            return text
        case ListCode.null: return add(.init(.null))
        case ListCode.no: return add(.init(.no))
        case ListCode.yes: return add(.init(.yes))
        case ListCode.uid:
            guard bits < 1 << 32 else { throw .damaged(.segment) }
            return add(.init(.uid, bits))
        case ListCode.shared:
            guard value >= 0, value < Int64(made.shared.count) else { throw .damaged(.segment) }
            return made.shared[Int(value)]
        case ListCode.array:
            guard let count = codes.announce(value) else { throw .damaged(.segment) }
            return try array(of: count, in: slot)
        case ListCode.dictionary:
            guard value >= 0, value < Int64(shapes.count),
                codes.announce(Int64(shapes[Int(value)].names.count)) != nil
            else { throw .damaged(.segment) }
            return try dictionary(Int(value), in: slot, &made)
        default:
            guard made.isArchive else { throw .damaged(.segment) }
            if code == ListCode.table {
                guard !made.hasTable, !slot.isInElement else { throw .damaged(.segment) }
                made.hasTable = true
                return add(.init(.array, 1, count: walk.tableCount))
            }
            let (uid, isNow) = try uid(code, value, in: slot)
            walk.name(uid, in: slot)
            if isNow { walk.visit(uid, from: slot) }
            return add(.init(.uid, UInt64(uid)))
        }
    }

    private mutating func uid(
        _ code: UInt8, _ value: Int64, in slot: ListWalk.Slot
    ) throws(CompressionError) -> (UInt32, isNow: Bool) {
        let uid: UInt32?
        switch code {
        case ListCode.new, ListCode.later: uid = walk.unnamed().flatMap { UInt32(exactly: $0) }
        case ListCode.explicit, ListCode.visit:
            uid = UInt32(exactly: Int64(walk.previous(in: slot)).addingReportingOverflow(value).partialValue)
        default: uid = walk.uid(for: code, in: slot)
        }
        guard let uid else { throw .damaged(.segment) }
        guard code == ListCode.new || code == ListCode.visit else { return (uid, false) }
        guard !walk.isVisited(uid) else { throw .damaged(.segment) }
        return (uid, true)
    }

    private mutating func array(of count: Int, in slot: ListWalk.Slot) throws(CompressionError) -> Int32 {
        let first = tree.references.count
        tree.references.append(contentsOf: repeatElement(-1, count: count))
        guard walk.enterArray(of: count, at: first, in: slot) else { throw .damaged(.segmentLimit) }
        return add(.init(.array, UInt64(first), count: count))
    }

    private mutating func dictionary(
        _ shape: Int, in slot: ListWalk.Slot, _ made: inout MadeObjects
    ) throws(CompressionError) -> Int32 {
        let first = tree.references.count
        for name in shapes[shape].names {
            let key: Int32
            if let known = made.names[name] {
                key = known
            } else {
                key =
                    (made.isArchive ? nil : made.texts[names[name]])
                    ?? add(
                        .init(.name, UInt64(names.starts[name]), count: Int(names.lengths[name])), to: &made)
                made.names[name] = key
            }
            tree.references.append(key)
        }
        let count = shapes[shape].names.count
        tree.references.append(contentsOf: repeatElement(-1, count: count))
        guard walk.enterDictionary(shape, at: first, in: slot) else { throw .damaged(.segmentLimit) }
        return add(.init(.dictionary, UInt64(first), count: count))
    }

    /// - Parameter index: Of one of `strings`.
    private func object(_ kind: ListTree.Kind, _ strings: Strings, _ index: Int64) -> ListTree.Object {
        .init(kind, UInt64(strings.starts[Int(index)]), count: Int(strings.lengths[Int(index)]))
    }

    private mutating func add(_ object: ListTree.Object) -> Int32 {
        tree.objects.append(object)
        return Int32(truncatingIfNeeded: tree.objects.count - 1)
    }

    /// The object gets a number by which others can name it.
    private mutating func add(_ object: ListTree.Object, to made: inout MadeObjects) -> Int32 {
        let index = add(object)
        made.shared.append(index)
        return index
    }
}

extension Strings {
    fileprivate var isASCII: Bool {
        (0..<count).allSatisfy { self[$0].allSatisfy { $0 < 0x80 } }
    }
}
