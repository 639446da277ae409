/// Takes the property lists of a column apart, as `Protocol/LISTS.md` says.
struct ListEncoder {
    /// By string: 0 for one that is no list or would not come out again.
    private(set) var modes: [Int64] = []
    /// Those strings.
    private(set) var rest = Strings()
    private(set) var tables: [Int64] = []
    private(set) var names = Strings()
    private(set) var shapes: [ListShape] = []
    private(set) var codes = ListCodes()
    /// What codes for texts and data refer to.
    private(set) var ascii = Strings()
    private(set) var utf16 = Strings()
    private(set) var data = Strings()

    /// Lists that are left as they are though they come out again, before all are.
    private static let mostUnfit = 8

    private var numberOfName: [[UInt8]: Int] = [:]
    private var numberOfShape: [[Int]: Int] = [:]
    private var walk = ListWalk()

    /// A list, and what stands where in it.
    private struct Analysed {
        let tree: ListTree
        /// By object: the shape of a dictionary.
        let shapes: [Int]
        let table: ListTree.Object?
        /// The references of the table's elements.
        var elements: ArraySlice<Int32> {
            table.map { tree.references[$0.firstReference..<$0.firstReference + Int($0.count)] } ?? []
        }
        /// By element: the lowest UID above its own that stands in it.
        var lowest: [Int?] = []
    }

    /// - Returns: `nil` if no string is a list that can be taken apart.
    init?(_ strings: Strings) {
        var unfit: Set<Int> = []
        while true {
            var encoder = ListEncoder()
            guard let bad = encoder.encode(strings, without: unfit) else {
                guard encoder.modes.contains(where: { $0 != 0 }), encoder.isWithinLimits else { return nil }
                self = encoder
                return
            }
            guard unfit.count < Self.mostUnfit else { return nil }
            unfit.insert(bad)
        }
    }

    private init() {}

    /// Whether a decoder takes it.
    private var isWithinLimits: Bool {
        names.count <= ListLimits.names && shapes.count <= ListLimits.shapes
            && shapes.reduce(0) { $0 + $1.names.count } <= ListLimits.allColumns
            && codes.codes.count <= ListLimits.contexts
            && codes.codes.reduce(0) { $0 + $1.count } <= ListLimits.codes
    }

    /// - Returns: A list that cannot be encoded.
    private mutating func encode(_ strings: Strings, without unfit: Set<Int>) -> Int? {
        var parser = ListParser()
        var lists: [(index: Int, list: Analysed)] = []
        for index in 0..<strings.count {
            let string = strings[index]
            if !unfit.contains(index), let parsed = parser.parsed(string), let list = analysed(parsed.tree) {
                modes.append(1 + (list.table == nil ? 0 : 1) + (parsed.eachAtom ? 2 : 0))
                if let table = list.table { tables.append(Int64(table.count)) }
                lists.append((index, list))
            } else {
                modes.append(0)
                rest.append(string)
            }
        }
        findOrders(of: lists.map(\.list))
        for shape in shapes { walk.add(shape) }
        return lists.first { !encode($0.list) }?.index
    }

    // MARK: Shapes

    /// - Returns: `nil` if a key is no ASCII text, or one name stands for two objects.
    private mutating func analysed(_ tree: ListTree) -> Analysed? {
        var nameOfObject = [Int](repeating: -1, count: tree.objects.count)
        var shapeOfObject = nameOfObject
        var objectOfName: [Int: Int32] = [:]
        var table: ListTree.Object?
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
            guard Set(shape).count == shape.count, shape.count <= ListLimits.columns else { return nil }
            if index == 0 {
                for (key, value) in zip(keys, tree.references[keys.upperBound...]) {
                    let (key, value) = (tree.objects[Int(tree.references[key])], tree.objects[Int(value)])
                    if value.kind == .array, tree.bytes(of: key).elementsEqual("$objects".utf8) { table = value }
                }
            }
            shapeOfObject[index] = numberOfShape(shape)
        }
        var list = Analysed(tree: tree, shapes: shapeOfObject, table: table)
        list.lowest = list.elements.enumerated().map { Self.lowest(above: $0, in: $1, of: tree) }
        return list
    }

    private mutating func numberOfName(_ name: [UInt8]) -> Int {
        if let number = numberOfName[name] { return number }
        numberOfName[name] = names.count
        names.append(name)
        return names.count - 1
    }

    private mutating func numberOfShape(_ names: [Int]) -> Int {
        if let number = numberOfShape[names] { return number }
        numberOfShape[names] = shapes.count
        shapes.append(ListShape(names: names, order: Array(names.indices)))
        return shapes.count - 1
    }

    private static func lowest(above uid: Int, in element: Int32, of tree: ListTree) -> Int? {
        var lowest: Int?
        var open = [element]
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

    /// An archiver numbers objects as it comes to them, and visits the fields of a class in an order of the class: not that in which they
    /// stand. The fields in which new numbers stand tell it.
    private mutating func findOrders(of lists: [Analysed]) {
        var votes: [Int: [Int]] = [:]
        for list in lists {
            for (uid, element) in list.elements.enumerated() where list.lowest[uid] == uid + 1 {
                let object = list.tree.objects[Int(element)]
                guard object.kind == .dictionary, object.count <= ListWalk.namedColumns else { continue }
                let count = Int(object.count)
                var found: [(uid: Int, column: Int)] = []
                for column in 0..<count {
                    let value = list.tree.references[object.firstReference + count + column]
                    if let lowest = Self.lowest(above: uid, in: value, of: list.tree) { found.append((lowest, column)) }
                }
                guard found.count > 1 else { continue }
                found.sort { $0.uid < $1.uid }
                let shape = list.shapes[Int(element)]
                for (rank, earlier) in found.enumerated() {
                    for later in found[(rank + 1)...] {
                        votes[shape, default: [Int](repeating: 0, count: count * count)][
                            earlier.column * count + later.column] += 1
                    }
                }
            }
        }
        for (shape, votes) in votes {
            shapes[shape] = ListShape(
                names: shapes[shape].names, order: Self.order(of: shapes[shape].names.count, by: votes))
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
        var keys: Set<Int32> = []
        walk.begin(table: list.elements.count, at: list.table?.firstReference ?? 0)
        while let slot = walk.next() {
            let index = tree.references[slot.reference]
            let object = tree.objects[Int(index)]
            let first = object.firstReference
            if object.kind.isShared {
                guard sharedNumbers[Int(index)] < 0 else {
                    codes.append(ListCode.shared, sharedNumbers[Int(index)], in: slot.context)
                    continue
                }
                number(index)
            }
            switch object.kind {
            case .null: codes.append(ListCode.null, in: slot.context)
            case .no: codes.append(ListCode.no, in: slot.context)
            case .yes: codes.append(ListCode.yes, in: slot.context)
            case .integer:
                let code =
                    object.count == 0
                    ? ListCode.integer : ListCode.otherIntegers.lowerBound + UInt8(truncatingIfNeeded: object.count - 1)
                codes.append(code, Int64(bitPattern: object.value), in: slot.context)
            case .real: codes.append(ListCode.real, Int64(bitPattern: object.value), in: slot.context)
            case .float: codes.append(ListCode.float, Int64(bitPattern: object.value), in: slot.context)
            case .date: codes.append(ListCode.date, Int64(bitPattern: object.value), in: slot.context)
            case .data:
                codes.append(ListCode.data, Int64(data.count), in: slot.context)
                data.append(tree.bytes(of: object))
            case .ascii, .name:
                codes.append(ListCode.ascii, Int64(ascii.count), in: slot.context)
                ascii.append(tree.bytes(of: object))
                if firstText[tree.bytes(of: object)] == nil { firstText[tree.bytes(of: object)] = index }
            case .utf16:
                codes.append(ListCode.utf16, Int64(utf16.count), in: slot.context)
                utf16.append(tree.bytes(of: object))
            case .uid:
                guard let uid = UInt32(exactly: object.value) else { return false }
                if list.table == nil || slot.element >= 0 {
                    codes.append(ListCode.uid, Int64(uid), in: slot.context)
                } else {
                    encode(uid, in: slot, of: list)
                }
            case .array:
                if let table = list.table, table.firstReference == first, table.count == object.count,
                    slot.isInColumn, !slot.isInElement, !hasTable
                {
                    hasTable = true
                    codes.append(ListCode.table, in: slot.context)
                } else {
                    codes.append(ListCode.array, Int64(object.count), in: slot.context)
                    guard walk.enterArray(of: Int(object.count), at: first, in: slot) else { return false }
                }
            case .dictionary:
                codes.append(ListCode.dictionary, Int64(list.shapes[Int(index)]), in: slot.context)
                for key in tree.references[first..<first + Int(object.count)] where !keys.contains(key) {
                    keys.insert(key)
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

    private mutating func encode(_ uid: UInt32, in slot: ListWalk.Slot, of list: Analysed) {
        let step = Int64(uid) - Int64(walk.previous(in: slot))
        let number = Int(uid)
        var isNow = !walk.isVisited(uid)
        if walk.unnamed() == number {
            isNow = list.lowest[number].map { $0 == number + 1 } ?? true
            codes.append(isNow ? ListCode.new : ListCode.later, in: slot.context)
            walk.name(uid, in: slot)
        } else {
            let code = walk.code(for: uid, in: slot)
            walk.name(uid, in: slot)
            // What is in it was numbered when the archiver came to it, so it was here if the next number stands there.
            if isNow, let lowest = list.lowest[number], lowest != walk.unnamed() { isNow = false }
            if !isNow, let code {
                codes.append(code, in: slot.context)
            } else {
                codes.append(isNow ? ListCode.visit : ListCode.explicit, step, in: slot.context)
            }
        }
        if isNow { walk.visit(uid, from: slot) }
    }
}

/// Source: `Protocol/LISTS.md` 3.
enum ListLimits {
    static let names = 65_536
    static let shapes = 65_536
    static let columns = 32_767
    static let allColumns = 1_048_576
    static let contexts = 1_048_576
    static let codes = 2_097_152
}
