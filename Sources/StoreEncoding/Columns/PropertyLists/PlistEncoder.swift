/// Takes the property lists of a column apart.
///
/// Source: `Protocol/LISTS.md`.
struct PlistEncoder {
    /// By string: 0 for one that is no list or would not come out again.
    private(set) var modes: [Int64] = []
    /// The strings of mode 0.
    private(set) var rest = Strings()
    private(set) var tables: [Int64] = []
    private(set) var names = Strings()
    /// See `PlistWalk`.
    private(set) var shapes: [(names: [Int], order: [Int])] = []
    /// By context.
    private(set) var codes: [[UInt8]] = []
    /// By context, the value that each code takes: integers as they are, the bits of reals, and for texts and data the index among `ascii`,
    /// `utf16` or `data`.
    private var values: [[Int64]] = []
    private(set) var ascii = Strings()
    private(set) var utf16 = Strings()
    private(set) var data = Strings()

    /// If it cannot encode more lists than these, though they would come out again, it encodes none.
    private static let mostUnfit = 8

    private var numberOfName: [[UInt8]: Int] = [:]
    private var numberOfShape: [[Int]: Int] = [:]
    /// The number that was asked for last; -1 for none.
    private var lastShape = -1
    private var walk = PlistWalk()

    /// A list, and what stands where in it.
    private struct Analysed {
        let tree: PlistTree
        /// By object: the shape of a dictionary.
        let shapes: [Int]
        let table: PlistTree.Object?
        /// The references of the table's elements.
        var elements: ArraySlice<Int32> {
            table.map { tree.references[$0.firstReference..<$0.firstReference + Int($0.count)] } ?? []
        }
        /// By element: the lowest UID above its own that stands in it.
        var lowest: [Int?] = []
    }

    /// - Returns: `nil` if no string is a list that comes out again.
    init?(_ strings: Strings) {
        let trees = Self.trees(of: strings)
        var unfit: Set<Int> = []
        while true {
            var encoder = PlistEncoder()
            guard let bad = encoder.encode(strings, trees, without: unfit) else {
                guard encoder.modes.contains(where: { $0 != 0 }), encoder.isWithinLimits else { return nil }
                self = encoder
                return
            }
            guard unfit.count < Self.mostUnfit else { return nil }
            unfit.insert(bad)
        }
    }

    private init() {}

    /// - Returns: `nil` for a string that is no list that comes out again.
    private static func trees(of strings: Strings) -> [(tree: PlistTree, eachAtom: Bool)?] {
        var writer = PlistWriter()
        var trees: [(tree: PlistTree, eachAtom: Bool)?] = []
        for index in 0..<strings.count {
            var tree = PlistTree()
            guard let eachAtom = tree.read(strings[index], by: &writer) else {
                trees.append(nil)
                continue
            }
            trees.append((tree: tree, eachAtom: eachAtom))
        }
        return trees
    }

    /// Whether a decoder accepts it.
    private var isWithinLimits: Bool {
        names.count <= PlistCode.mostNames && shapes.count <= PlistCode.mostShapes
            && shapes.reduce(0) { $0 + $1.names.count } <= PlistCode.mostColumnsInAll
            && codes.count <= PlistCode.mostContexts
            && codes.reduce(0) { $0 + $1.count } <= PlistCode.mostCodes
    }

    /// - Returns: A list that cannot be encoded.
    private mutating func encode(
        _ strings: Strings, _ trees: [(tree: PlistTree, eachAtom: Bool)?], without unfit: Set<Int>
    ) -> Int? {
        var lists: [(index: Int, list: Analysed)] = []
        for (index, found) in trees.enumerated() {
            if !unfit.contains(index), let (tree, eachAtom) = found, let list = analysed(tree) {
                modes.append(1 + (list.table == nil ? 0 : 1) + (eachAtom ? 2 : 0))
                if let table = list.table { tables.append(Int64(table.count)) }
                lists.append((index, list))
            } else {
                modes.append(0)
                rest.append(strings[index])
            }
        }
        findOrders(of: lists.map(\.list))
        for shape in shapes { walk.add(shape) }
        return lists.first { !encode($0.list) }?.index
    }

    // MARK: Shapes

    /// - Returns: `nil` if a key is no ASCII text, or one name stands for two objects.
    private mutating func analysed(_ tree: PlistTree) -> Analysed? {
        var nameOfObject = [Int](repeating: -1, count: tree.objects.count)
        var shapeOfObject = nameOfObject
        var objectOfName: [Int: Int32] = [:]
        var table: PlistTree.Object?
        for (index, object) in tree.objects.enumerated() where object.kind == .dictionary {
            var shape: [Int] = []
            let keys = object.firstReference..<object.firstReference + Int(object.count)
            for key in tree.references[keys] {
                guard tree.objects[Int(key)].kind == .ascii else { return nil }
                if nameOfObject[Int(key)] < 0 {
                    let name = numberOfName(Array(tree.bytes(of: tree.objects[Int(key)])))
                    guard objectOfName.updateValue(key, forKey: name) == nil else { return nil }
                    nameOfObject[Int(key)] = name
                }
                shape.append(nameOfObject[Int(key)])
            }
            if index == 0 {
                for (key, value) in zip(keys, tree.references[keys.upperBound...]) {
                    let (key, value) = (tree.objects[Int(tree.references[key])], tree.objects[Int(value)])
                    if value.kind == .array, tree.bytes(of: key).elementsEqual("$objects".utf8) { table = value }
                }
            }
            guard let number = numberOfShape(shape) else { return nil }
            shapeOfObject[index] = number
        }
        var list = Analysed(tree: tree, shapes: shapeOfObject, table: table)
        var open: [Int32] = []
        list.lowest = list.elements.enumerated().map { Self.lowest(above: $0, in: $1, of: tree, &open) }
        return list
    }

    private mutating func numberOfName(_ name: [UInt8]) -> Int {
        if let number = numberOfName[name] { return number }
        numberOfName[name] = names.count
        names.append(name)
        return names.count - 1
    }

    /// - Returns: `nil` for names that no shape has: one of them twice, or too many.
    private mutating func numberOfShape(_ names: [Int]) -> Int? {
        // Dictionaries of one class often follow one another.
        if shapes.indices.contains(lastShape), shapes[lastShape].names == names { return lastShape }
        if let number = numberOfShape[names] {
            lastShape = number
            return number
        }
        guard Set(names).count == names.count, names.count <= PlistCode.mostColumns else { return nil }
        numberOfShape[names] = shapes.count
        shapes.append((names, Array(names.indices)))
        return shapes.count - 1
    }

    /// - Parameter open: Memory for what is still to look into.
    private static func lowest(above uid: Int, in element: Int32, of tree: PlistTree, _ open: inout [Int32]) -> Int? {
        // Most elements hold nothing, and most columns one UID.
        let object = tree.objects[Int(element)]
        switch object.kind {
        case .uid: return object.value > UInt64(uid) && object.value < UInt64(Int.max) ? Int(object.value) : nil
        case .array, .dictionary: break
        case .null, .no, .yes, .integer, .real, .float, .date, .data, .ascii, .utf16, .name: return nil
        }
        var lowest: Int?
        open.removeAll(keepingCapacity: true)
        open.append(element)
        while let index = open.popLast() {
            let object = tree.objects[Int(index)]
            let first = object.firstReference
            switch object.kind {
            case .uid:
                if object.value > UInt64(uid), object.value < UInt64(lowest ?? Int.max) { lowest = Int(object.value) }
            case .array: open += tree.references[first..<first + Int(object.count)]
            case .dictionary: open += tree.references[first + Int(object.count)..<first + 2 * Int(object.count)]
            case .null, .no, .yes, .integer, .real, .float, .date, .data, .ascii, .utf16, .name: break
            }
        }
        return lowest
    }

    /// Finds the order in which an archiver visits the fields of a class. They stand in another order, but an archiver numbers objects as
    /// it comes to them: new numbers tell the order.
    private mutating func findOrders(of lists: [Analysed]) {
        // By shape; none for one that is not voted on.
        var votes = [[Int]](repeating: [], count: shapes.count)
        var open: [Int32] = []
        for list in lists {
            for (uid, element) in list.elements.enumerated() where list.lowest[uid] == uid + 1 {
                let object = list.tree.objects[Int(element)]
                guard object.kind == .dictionary, object.count <= PlistWalk.namedColumns else { continue }
                let count = Int(object.count)
                var found: [(uid: Int, column: Int)] = []
                for column in 0..<count {
                    let value = list.tree.references[object.firstReference + count + column]
                    let lowest = Self.lowest(above: uid, in: value, of: list.tree, &open)
                    if let lowest { found.append((lowest, column)) }
                }
                guard found.count > 1 else { continue }
                found.sort { $0.uid < $1.uid }
                let shape = list.shapes[Int(element)]
                if votes[shape].isEmpty { votes[shape] = [Int](repeating: 0, count: count * count) }
                for (rank, earlier) in found.enumerated() {
                    for later in found[(rank + 1)...] {
                        votes[shape][earlier.column * count + later.column] += 1
                    }
                }
            }
        }
        for (shape, votes) in votes.enumerated() where !votes.isEmpty {
            shapes[shape].order = Self.order(of: shapes[shape].names.count, by: votes)
        }
    }

    /// - Parameter votes: For each column, how often it came before each other one.
    private static func order(of count: Int, by votes: [Int]) -> [Int] {
        var left = Array(0..<count)
        var order: [Int] = []
        while !left.isEmpty {
            var best = (place: 0, against: Int.max)
            for (place, column) in left.enumerated() {
                let against = left.reduce(0) {
                    $0 + max(0, votes[$1 * count + column] - votes[column * count + $1])
                }
                if against < best.against { best = (place, against) }
            }
            order.append(left.remove(at: best.place))
        }
        return order
    }

    // MARK: Codes

    private mutating func append(_ code: UInt8, _ value: Int64 = 0, in context: Int) {
        while codes.count <= context {
            codes.append([])
            values.append([])
        }
        codes[context].append(code)
        values[context].append(value)
    }

    /// By stream: its values, context by context.
    func streams() -> [[Int64]] {
        var streams = [[Int64]](repeating: [], count: PlistCode.Stream.allCases.count)
        for (codes, values) in zip(codes, values) {
            for (code, value) in zip(codes, values) {
                if let stream = PlistCode.stream(of: code) { streams[stream.rawValue].append(value) }
            }
        }
        return streams
    }

    /// - Returns: `false` for a list that is too deep.
    private mutating func encode(_ list: Analysed) -> Bool {
        let tree = list.tree
        var sharedNumbers = [Int64](repeating: -1, count: tree.objects.count)
        var shared: Int64 = 0
        var firstText: [ArraySlice<UInt8>: Int32] = [:]
        func number(_ index: Int32) {
            guard sharedNumbers[Int(index)] < 0 else { return }
            sharedNumbers[Int(index)] = shared
            shared += 1
        }
        var hasTable = false
        var isKey = [Bool](repeating: false, count: tree.objects.count)
        walk.begin(table: list.elements.count, at: list.table?.firstReference ?? 0)
        while let slot = walk.next() {
            let index = tree.references[slot.reference]
            let object = tree.objects[Int(index)]
            let first = object.firstReference
            if object.kind.isShared {
                guard sharedNumbers[Int(index)] < 0 else {
                    append(PlistCode.shared, sharedNumbers[Int(index)], in: slot.context)
                    continue
                }
                number(index)
            }
            switch object.kind {
            case .null: append(PlistCode.null, in: slot.context)
            case .no: append(PlistCode.no, in: slot.context)
            case .yes: append(PlistCode.yes, in: slot.context)
            case .integer:
                let code =
                    object.count == 0
                    ? PlistCode.integer
                    : PlistCode.otherIntegers.lowerBound + UInt8(truncatingIfNeeded: object.count - 1)
                append(code, Int64(bitPattern: object.value), in: slot.context)
            case .real: append(PlistCode.real, Int64(bitPattern: object.value), in: slot.context)
            case .float: append(PlistCode.float, Int64(bitPattern: object.value), in: slot.context)
            case .date: append(PlistCode.date, Int64(bitPattern: object.value), in: slot.context)
            case .data:
                append(PlistCode.data, Int64(data.count), in: slot.context)
                data.append(tree.bytes(of: object))
            case .ascii, .name:
                append(PlistCode.ascii, Int64(ascii.count), in: slot.context)
                ascii.append(tree.bytes(of: object))
                // In an archive, where texts are the app's, no name refers to one.
                if list.table == nil, firstText[tree.bytes(of: object)] == nil {
                    firstText[tree.bytes(of: object)] = index
                }
            case .utf16:
                append(PlistCode.utf16, Int64(utf16.count), in: slot.context)
                utf16.append(tree.bytes(of: object))
            case .uid:
                guard let uid = UInt32(exactly: object.value) else { return false }
                if list.table == nil || slot.element >= 0 {
                    append(PlistCode.uid, Int64(uid), in: slot.context)
                } else {
                    encode(uid, in: slot, of: list)
                }
            case .array:
                if let table = list.table, table.firstReference == first, table.count == object.count,
                    slot.isInColumn, !slot.isInElement, !hasTable
                {
                    hasTable = true
                    append(PlistCode.table, in: slot.context)
                } else {
                    append(PlistCode.array, Int64(object.count), in: slot.context)
                    guard walk.enterArray(of: Int(object.count), at: first, in: slot) else { return false }
                }
            case .dictionary:
                append(PlistCode.dictionary, Int64(list.shapes[Int(index)]), in: slot.context)
                for key in tree.references[first..<first + Int(object.count)] where !isKey[Int(key)] {
                    isKey[Int(key)] = true
                    // A name is the first text of the same bytes that came before it; in an archive, where texts are the app's, none is.
                    let text = list.table == nil ? firstText[tree.bytes(of: tree.objects[Int(key)])] : nil
                    guard text ?? key == key, text == key || sharedNumbers[Int(key)] < 0 else { return false }
                    number(key)
                }
                guard walk.enterDictionary(list.shapes[Int(index)], at: first, in: slot) else { return false }
            }
        }
        return true
    }

    private mutating func encode(_ uid: UInt32, in slot: PlistWalk.Slot, of list: Analysed) {
        let step = Int64(uid) - Int64(walk.previous(in: slot))
        let number = Int(uid)
        var isNow = !walk.isVisited(uid)
        if walk.unnamed() == number {
            isNow = list.lowest[number].map { $0 == number + 1 } ?? true
            append(isNow ? PlistCode.new : PlistCode.later, in: slot.context)
            walk.name(uid, in: slot)
        } else {
            let code = walk.code(for: uid, in: slot)
            walk.name(uid, in: slot)
            // The archiver numbered the content of the element when it came to it: it did so here if the next number stands in it.
            if isNow, let lowest = list.lowest[number], lowest != walk.unnamed() { isNow = false }
            if !isNow, let code {
                append(code, in: slot.context)
            } else {
                append(isNow ? PlistCode.visit : PlistCode.explicit, step, in: slot.context)
            }
        }
        if isNow { walk.visit(uid, from: slot) }
    }
}

extension ColumnEncoder {
    /// Source: `Protocol/LISTS.md` 3.
    func write(_ lists: PlistEncoder, _ depth: Int, _ areas: inout SegmentAreas) {
        encode(lists.modes, depth: depth, into: &areas)
        encode(lists.rest, depth: depth, areOfRows: false, into: &areas)
        encode(lists.tables, depth: depth, into: &areas)
        areas.count(lists.names.count)
        encode(lists.names, depth: depth, areOfRows: false, into: &areas)
        areas.count(lists.shapes.count)
        encode(lists.shapes.map { Int64($0.names.count) }, depth: depth, into: &areas)
        encode(lists.shapes.flatMap { $0.names.map { Int64($0) } }, depth: depth, into: &areas)
        encode(
            lists.shapes.flatMap { $0.order.enumerated().map { Int64($0.element - $0.offset) } }, depth: depth,
            into: &areas)
        areas.count(lists.codes.count)
        encode(lists.codes.map { Int64($0.count) }, depth: depth, into: &areas)
        encode(lists.codes.joined().map { Int64($0) }, depth: depth, into: &areas)
        let streams = lists.streams()
        for stream in [PlistCode.Stream.uids, .numbers, .sizes, .shapes, .shared] {
            encode(streams[stream.rawValue], depth: depth, into: &areas)
        }
        encode(
            reals: streams[PlistCode.Stream.reals.rawValue].map { UInt64(bitPattern: $0) }, depth: depth, into: &areas)
        for (stream, strings) in [(PlistCode.Stream.ascii, lists.ascii), (.utf16, lists.utf16), (.data, lists.data)] {
            let order = streams[stream.rawValue].map { Int($0) }
            encode(strings.selecting(order), depth: depth, areOfRows: false, into: &areas)
        }
    }
}
