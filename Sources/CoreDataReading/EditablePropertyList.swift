/// A property list whose top dictionary can be changed. Everything else stays: each object of a binary list keeps its bytes and
/// its order among the others; only the numbers change by which it refers to them.
package struct EditablePropertyList {
    /// An object, as its bytes or as its references.
    private enum Object {
        case bytes([UInt8])
        /// With the high half of the marker, and the numbers of the members.
        case collection(UInt8, [Int])
    }

    /// `bplist00`, and the first bytes of the trailer.
    private let head: [UInt8]
    private let trailerHead: [UInt8]
    /// By their numbers; the first is the top dictionary.
    private var objects: [Object]
    /// The entries of the top dictionary, by the numbers of their objects. A key that is not a string stays, with a `nil` text.
    private var entries: [(text: String?, key: Int, value: Int)]

    /// Unused bytes, and the order of the keys: usually 0.
    private static let trailerHeadSize = 6

    /// - Returns: `nil` if the bytes are not a property list with a dictionary at its top, or exceed a limit.
    package init?(_ bytes: [UInt8]) {
        if let list = BinaryPropertyList(bytes) {
            self.init(list)
        } else {
            guard let pairs = PropertyListValue(bytes)?.dictionary else { return nil }
            self.init(pairs)
        }
    }

    private init?(_ list: BinaryPropertyList) {
        guard list.value?.dictionary != nil, let numbers = Self.reachable(in: list), let top = list.object(list.top)
        else { return nil }
        let places = Dictionary(uniqueKeysWithValues: numbers.enumerated().map { ($1, $0) })
        var objects: [Object] = []
        var size = 0
        for number in numbers {
            guard let object = list.object(number), let references = list.references(of: object) else { return nil }
            // Objects may share bytes here, but not when they are written.
            size += object.extent.count
            guard size <= PropertyListValue.mostBytes else { return nil }
            objects.append(
                object.kind < 0xA
                    ? .bytes(Array(list.bytes[object.extent]))
                    : .collection(object.kind, references.compactMap { places[$0] }))
        }
        guard let references = list.references(of: top) else { return nil }
        head = Array(list.bytes.prefix(BinaryPropertyList.headSize))
        trailerHead = Array(list.bytes.suffix(BinaryPropertyList.trailerSize).prefix(Self.trailerHeadSize))
        self.objects = objects
        entries = zip(references.prefix(top.count), references.suffix(top.count)).compactMap { key, value in
            guard let keyPlace = places[key], let valuePlace = places[value] else { return nil }
            return (list.string(key), keyPlace, valuePlace)
        }
    }

    /// Makes a binary list.
    private init(_ pairs: [String: PropertyListValue]) {
        head = Array("bplist00".utf8)
        trailerHead = [UInt8](repeating: 0, count: Self.trailerHeadSize)
        (objects, entries) = ([.collection(0xD, [])], [])
        for (key, value) in pairs.sorted(by: { $0.key < $1.key }) { append(value, for: key) }
    }

    /// The numbers of all reachable objects, the top one first and the others in their order.
    private static func reachable(in list: BinaryPropertyList) -> [Int]? {
        var (found, waiting) = (Set([list.top]), [list.top])
        while let number = waiting.popLast() {
            guard let object = list.object(number), let references = list.references(of: object) else { return nil }
            for reference in references where found.insert(reference).inserted { waiting.append(reference) }
        }
        return [list.top] + found.subtracting([list.top]).sorted()
    }

    /// Sets a key of the top dictionary, or removes it.
    package mutating func set(_ value: PropertyListValue?, for key: String) {
        entries.removeAll { $0.text == key }
        dropUnreachable()
        if let value { append(value, for: key) }
    }

    private mutating func append(_ value: PropertyListValue, for key: String) {
        entries.append((key, append(.string(key)), append(value)))
        objects[0] = top
    }

    private var top: Object { .collection(0xD, entries.map(\.key) + entries.map(\.value)) }

    /// - Returns: Its number.
    private mutating func append(_ value: PropertyListValue) -> Int {
        let number = objects.count
        switch value {
        case .array(let members):
            objects.append(.collection(0xA, []))
            objects[number] = .collection(0xA, members.map { append($0) })
        case .dictionary(let pairs):
            objects.append(.collection(0xD, []))
            let sorted = pairs.sorted { $0.key < $1.key }
            let keys = sorted.map { append(.string($0.key)) }
            objects[number] = .collection(0xD, keys + sorted.map { append($0.value) })
        default: objects.append(.bytes(BinaryPropertyList.scalar(value)))
        }
        return number
    }

    private mutating func dropUnreachable() {
        objects[0] = top
        var (found, waiting) = (Set([0]), [0])
        while let number = waiting.popLast() {
            guard case .collection(_, let references) = objects[number] else { continue }
            for reference in references where found.insert(reference).inserted { waiting.append(reference) }
        }
        var places = [Int](repeating: 0, count: objects.count)
        for (place, number) in found.sorted().enumerated() { places[number] = place }
        objects = found.sorted().map { number in
            guard case .collection(let kind, let references) = objects[number] else { return objects[number] }
            return .collection(kind, references.map { places[$0] })
        }
        for index in entries.indices {
            (entries[index].key, entries[index].value) = (places[entries[index].key], places[entries[index].value])
        }
    }

    package var bytes: [UInt8] {
        let referenceSize = BinaryPropertyList.width(objects.count)
        var bytes = head
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            switch object {
            case .bytes(let content): bytes += content
            case .collection(let kind, let references):
                bytes += BinaryPropertyList.marker(kind, kind == 0xD ? references.count / 2 : references.count)
                for reference in references { bytes += BinaryPropertyList.bytes(of: reference, referenceSize) }
            }
        }
        let table = bytes.count
        let offsetSize = BinaryPropertyList.width(table)
        for offset in offsets { bytes += BinaryPropertyList.bytes(of: offset, offsetSize) }
        bytes += trailerHead + [UInt8(offsetSize), UInt8(referenceSize)]
        for word in [objects.count, 0, table] { bytes += BinaryPropertyList.bytes(of: word, 8) }
        return bytes
    }
}
