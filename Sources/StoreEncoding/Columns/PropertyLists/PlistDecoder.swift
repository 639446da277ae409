import ShipCompression

extension ColumnDecoder {
    /// Property lists, put together again.
    ///
    /// Source: `Protocol/LISTS.md`.
    func propertyLists(
        _ count: Int, _ depth: Int, from source: inout SegmentReader
    ) throws(CompressionError) -> Strings {
        let depth = depth + 1
        let modes = try integers(count, depth: depth, from: &source)
        guard modes.allSatisfy({ (0...4).contains($0) }) else { throw .damaged(.segment) }
        let rest = try strings(modes.count { $0 == 0 }, depth: depth, areOfRows: false, from: &source)
        var decoder: PlistDecoder?
        var lists = Strings()
        var unlisted = 0
        for mode in modes {
            guard mode > 0 else {
                try source.spend(bytes: rest[unlisted].count)
                lists.append(rest[unlisted])
                unlisted += 1
                continue
            }
            if decoder == nil {
                decoder = try PlistDecoder(archives: modes.count { $0 == 2 || $0 == 4 }, depth, by: self, from: &source)
            }
            guard let list = try decoder?.list(isArchive: mode == 2 || mode == 4, eachAtom: mode > 2) else {
                throw .damaged(.segment)
            }
            try source.spend(bytes: list.count)
            lists.append(list)
        }
        guard decoder?.isAtEnd ?? true else { throw .damaged(.segment) }
        return lists
    }
}

/// Makes the lists of a column.
private struct PlistDecoder {
    private var tables: ArraySlice<Int64>
    private let names: Strings
    /// See `PlistWalk`.
    private let shapes: [(names: [Int], order: [Int])]
    private var codes: PlistCodeReader
    private let ascii: Strings
    private let utf16: Strings
    private let data: Strings
    private var walk: PlistWalk
    private var writer = PlistWriter()
    private var tree = PlistTree()

    // The current list.
    private var isArchive = false
    private var hasTable = false
    /// The objects that have numbers by which others can name them, in the order of these.
    private var shared: [Int32] = []
    /// The objects of names, by the index among `names`.
    private var keys: [Int: Int32] = [:]
    private var firstText: [ArraySlice<UInt8>: Int32] = [:]

    init(
        archives: Int, _ depth: Int, by columns: ColumnDecoder, from source: inout SegmentReader
    ) throws(CompressionError) {
        tables = try columns.integers(archives, depth: depth, from: &source)[...]
        names = try columns.strings(
            try source.control.count(limit: PlistCode.mostNames), depth: depth, areOfRows: false, from: &source)
        guard names.isASCII else { throw .damaged(.segment) }
        shapes = try Self.shapes(names: names.count, depth, by: columns, from: &source)
        let contexts = try source.control.count(limit: PlistCode.mostContexts)
        let counts = try columns.integers(contexts, depth: depth, from: &source)
        var total: Int64 = 0
        for count in counts {
            guard count > 0, count <= Int64(PlistCode.mostCodes) - total else { throw .damaged(.segmentLimit) }
            total += count
        }
        let given = try columns.integers(Int(total), depth: depth, from: &source)
        guard given.allSatisfy({ (0..<Int64(PlistCode.beside.upperBound)).contains($0) }) else {
            throw .damaged(.segment)
        }
        codes = PlistCodeReader(codes: given.map { UInt8(truncatingIfNeeded: $0) }, counts: counts.map { Int($0) })
        for stream in [PlistCode.Stream.uids, .numbers, .sizes, .shapes, .shared] {
            codes.give(try columns.integers(codes.count(of: stream), depth: depth, from: &source), to: stream)
        }
        codes.give(
            try columns.reals(codes.count(of: .reals), depth: depth, from: &source).map { Int64(bitPattern: $0) },
            to: .reals)
        var texts: [Strings] = []
        for stream in [PlistCode.Stream.ascii, .utf16, .data] {
            let count = codes.count(of: stream)
            codes.give((0..<count).lazy.map { Int64($0) }, to: stream)
            texts.append(try columns.strings(count, depth: depth, areOfRows: false, from: &source))
        }
        (ascii, utf16, data) = (texts[0], texts[1], texts[2])
        guard ascii.isASCII, utf16.lengths.allSatisfy({ $0 % 2 == 0 }) else { throw .damaged(.segment) }
        walk = PlistWalk(shapes: shapes)
        (tree.data, tree.ascii, tree.utf16, tree.names) = (data.bytes, ascii.bytes, utf16.bytes, names.bytes)
    }

    private static func shapes(
        names: Int, _ depth: Int, by columns: ColumnDecoder, from source: inout SegmentReader
    ) throws(CompressionError) -> [(names: [Int], order: [Int])] {
        let number = try source.control.count(limit: PlistCode.mostShapes)
        var total = 0
        let counts = try columns.integers(number, depth: depth, from: &source)
        for count in counts {
            guard count >= 0, count <= PlistCode.mostColumns, Int(count) <= PlistCode.mostColumnsInAll - total else {
                throw .damaged(.segmentLimit)
            }
            total += Int(count)
        }
        let keys = try columns.integers(total, depth: depth, from: &source)
        let steps = try columns.integers(total, depth: depth, from: &source)
        var shapes: [(names: [Int], order: [Int])] = []
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
            shapes.append((own, order))
            start += count
        }
        return shapes
    }

    var isAtEnd: Bool { codes.isAtEnd && walk.contexts == codes.contexts }

    mutating func list(isArchive: Bool, eachAtom: Bool) throws(CompressionError) -> [UInt8] {
        tree.clear()
        (self.isArchive, hasTable, shared, keys, firstText) = (isArchive, false, [], [:], [:])
        var size = 0
        if isArchive {
            guard let table = tables.popFirst(), let announced = codes.announce(table) else { throw .damaged(.segment) }
            size = announced
        }
        guard codes.announce(1) != nil else { throw .damaged(.segment) }
        tree.references = [Int32](repeating: -1, count: 1 + size)
        walk.begin(table: size, at: 1)
        while let slot = walk.next() {
            guard let (code, value) = codes.next(in: slot.context) else { throw .damaged(.segment) }
            tree.references[slot.reference] = try object(code, value, in: slot)
        }
        guard hasTable == isArchive, let list = writer.list(tree, eachAtom: eachAtom) else {
            throw .damaged(.segment)
        }
        return list
    }

    /// - Returns: The index of the object that a code makes.
    private mutating func object(
        _ code: UInt8, _ value: Int64, in slot: PlistWalk.Slot
    ) throws(CompressionError) -> Int32 {
        let bits = UInt64(bitPattern: value)
        switch code {
        case PlistCode.integer: return add(.init(.integer, bits))
        case _ where PlistCode.otherIntegers.contains(code):
            return add(.init(.integer, bits, count: Int(code - PlistCode.otherIntegers.lowerBound) + 1))
        case PlistCode.real: return addShared(.init(.real, bits))
        case PlistCode.date: return addShared(.init(.date, bits))
        case PlistCode.float:
            guard bits < 1 << 32 else { throw .damaged(.segment) }
            return addShared(.init(.float, bits))
        case PlistCode.data: return addShared(object(.data, data, value))
        case PlistCode.utf16: return addShared(object(.utf16, utf16, value))
        case PlistCode.ascii:
            let text = addShared(object(.ascii, ascii, value))
            let bytes = ascii[Int(value)]
            if !isArchive, firstText[bytes] == nil { firstText[bytes] = text }
            return text
        case PlistCode.null: return add(.init(.null))
        case PlistCode.no: return add(.init(.no))
        case PlistCode.yes: return add(.init(.yes))
        case PlistCode.uid:
            guard bits < 1 << 32 else { throw .damaged(.segment) }
            return add(.init(.uid, bits))
        case PlistCode.shared:
            guard value >= 0, value < Int64(shared.count) else { throw .damaged(.segment) }
            return shared[Int(value)]
        case PlistCode.array:
            guard let count = codes.announce(value) else { throw .damaged(.segment) }
            return try array(of: count, in: slot)
        case PlistCode.dictionary:
            guard value >= 0, value < Int64(shapes.count),
                codes.announce(Int64(shapes[Int(value)].names.count)) != nil
            else { throw .damaged(.segment) }
            return try dictionary(Int(value), in: slot)
        default:
            guard isArchive else { throw .damaged(.segment) }
            if code == PlistCode.table {
                guard !hasTable, !slot.isInElement else { throw .damaged(.segment) }
                hasTable = true
                return add(.init(.array, 1, count: walk.tableCount))
            }
            let (uid, isNow) = try uid(code, value, in: slot)
            walk.name(uid, in: slot)
            if isNow { walk.visit(uid, from: slot) }
            return add(.init(.uid, UInt64(uid)))
        }
    }

    private mutating func uid(
        _ code: UInt8, _ value: Int64, in slot: PlistWalk.Slot
    ) throws(CompressionError) -> (UInt32, isNow: Bool) {
        let uid: UInt32?
        switch code {
        case PlistCode.new, PlistCode.later: uid = walk.unnamed().flatMap { UInt32(exactly: $0) }
        case PlistCode.explicit, PlistCode.visit:
            uid = UInt32(exactly: Int64(walk.previous(in: slot)).addingReportingOverflow(value).partialValue)
        default: uid = walk.uid(for: code, in: slot)
        }
        guard let uid else { throw .damaged(.segment) }
        guard code == PlistCode.new || code == PlistCode.visit else { return (uid, false) }
        guard !walk.isVisited(uid) else { throw .damaged(.segment) }
        return (uid, true)
    }

    private mutating func array(of count: Int, in slot: PlistWalk.Slot) throws(CompressionError) -> Int32 {
        let first = tree.references.count
        tree.references.append(contentsOf: repeatElement(-1, count: count))
        guard walk.enterArray(of: count, at: first, in: slot) else { throw .damaged(.segmentLimit) }
        return add(.init(.array, UInt64(first), count: count))
    }

    private mutating func dictionary(_ shape: Int, in slot: PlistWalk.Slot) throws(CompressionError) -> Int32 {
        let first = tree.references.count
        for name in shapes[shape].names {
            let key: Int32
            if let known = keys[name] {
                key = known
            } else {
                key =
                    (isArchive ? nil : firstText[names[name]])
                    ?? addShared(.init(.name, UInt64(names.starts[name]), count: Int(names.lengths[name])))
                keys[name] = key
            }
            tree.references.append(key)
        }
        let count = shapes[shape].names.count
        tree.references.append(contentsOf: repeatElement(-1, count: count))
        guard walk.enterDictionary(shape, at: first, in: slot) else { throw .damaged(.segmentLimit) }
        return add(.init(.dictionary, UInt64(first), count: count))
    }

    /// - Parameter index: Of one of `strings`.
    private func object(_ kind: PlistTree.Kind, _ strings: Strings, _ index: Int64) -> PlistTree.Object {
        .init(kind, UInt64(strings.starts[Int(index)]), count: Int(strings.lengths[Int(index)]))
    }

    private mutating func add(_ object: PlistTree.Object) -> Int32 {
        tree.objects.append(object)
        return Int32(truncatingIfNeeded: tree.objects.count - 1)
    }

    /// Adds an object with a number by which others can name it.
    private mutating func addShared(_ object: PlistTree.Object) -> Int32 {
        let index = add(object)
        shared.append(index)
        return index
    }
}

extension Strings {
    fileprivate var isASCII: Bool {
        (0..<count).allSatisfy { self[$0].allSatisfy { $0 < 0x80 } }
    }
}
