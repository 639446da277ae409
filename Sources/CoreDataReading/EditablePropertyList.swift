import EssentialFoundation
package import ShipProtocol
import StoreFormat

/// A property list whose top dictionary can be changed, and that stays as it is otherwise: each object of a binary list
/// keeps its bytes and its place among the others, but for the numbers by which it refers to them.
package struct EditablePropertyList {
    /// An object as it is written, or what it refers to.
    private enum Object {
        case whole([UInt8])
        /// With the high half of the marker.
        case collection(UInt8, [Int])
    }

    /// `bplist00`, and the first bytes of the trailer.
    private let head: [UInt8]
    private let trailerHead: [UInt8]
    /// By their numbers; the first is the top one.
    private var objects: [Object]
    private var entries: [Entry]

    /// Of the top dictionary. A key that is no text stays, and is none that anybody asks for.
    private struct Entry {
        let text: String?
        var key: Int
        var value: Int
    }

    /// Offsets that are not used, and how keys were sorted: 0 as a rule.
    private static let trailerHeadSize = 6

    /// - Returns: `nil` if the bytes are no property list with a dictionary at its top, or beyond a limit.
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
            // Objects may share bytes; written one after the other they do not.
            size += object.extent.count
            guard size <= PropertyListValue.mostBytes else { return nil }
            objects.append(
                object.kind < 0xA
                    ? .whole(Array(list.bytes[object.extent]))
                    : .collection(object.kind, references.compactMap { places[$0] }))
        }
        guard let references = list.references(of: top) else { return nil }
        head = Array(list.bytes.prefix(BinaryPropertyList.headSize))
        trailerHead = Array(list.bytes.suffix(BinaryPropertyList.trailerSize).prefix(Self.trailerHeadSize))
        self.objects = objects
        entries = zip(references.prefix(top.count), references.suffix(top.count)).compactMap { key, value in
            guard let keyPlace = places[key], let valuePlace = places[value] else { return nil }
            return Entry(text: list.string(key), key: keyPlace, value: valuePlace)
        }
    }

    /// A list that is new in this format.
    private init(_ pairs: [String: PropertyListValue]) {
        head = Array("bplist00".utf8)
        trailerHead = [UInt8](repeating: 0, count: Self.trailerHeadSize)
        (objects, entries) = ([.collection(0xD, [])], [])
        for (key, value) in pairs.sorted(by: { $0.key < $1.key }) { append(value, for: key) }
    }

    /// The numbers of all objects that count, the top one first and the others in their order.
    private static func reachable(in list: BinaryPropertyList) -> [Int]? {
        var (found, waiting) = (Set([list.top]), [list.top])
        while let number = waiting.popLast() {
            guard let object = list.object(number), let references = list.references(of: object) else { return nil }
            for reference in references where found.insert(reference).inserted { waiting.append(reference) }
        }
        return [list.top] + found.subtracting([list.top]).sorted()
    }

    /// Gives a key of the top dictionary another value, or takes it away.
    package mutating func set(_ value: PropertyListValue?, for key: String) {
        entries.removeAll { $0.text == key }
        dropUnreachable()
        if let value { append(value, for: key) }
    }

    private mutating func append(_ value: PropertyListValue, for key: String) {
        entries.append(Entry(text: key, key: append(.string(key)), value: append(value)))
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
        default: objects.append(.whole(PropertyListBytes.scalar(value)))
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
        let referenceSize = PropertyListBytes.width(objects.count)
        var bytes = head
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            switch object {
            case .whole(let content): bytes += content
            case .collection(let kind, let references):
                bytes += PropertyListBytes.marker(kind, kind == 0xD ? references.count / 2 : references.count)
                for reference in references { bytes += PropertyListBytes.number(reference, referenceSize) }
            }
        }
        let table = bytes.count
        let offsetSize = PropertyListBytes.width(table)
        for offset in offsets { bytes += PropertyListBytes.number(offset, offsetSize) }
        bytes += trailerHead + [UInt8(offsetSize), UInt8(referenceSize)]
        for word in [objects.count, 0, table] { bytes += PropertyListBytes.number(word, 8) }
        return bytes
    }
}

/// `Z_METADATA.Z_PLIST`, as far as it says anything of the right form: what it does not say, nobody claims, and a consumer
/// that compares the model finds the difference.
package struct CoreDataPropertyList: Sendable {
    /// Entity name to hash, 32 bytes, in base64.
    package let entityVersionHashes: [ForeignText: String]
    package let modelVersionIdentifiers: [ForeignText]
    package let storeType: ForeignText?
    /// Of the framework that wrote the store last.
    package let frameworkVersion: Int?
    package let versionHashesDigest: ForeignText?
    package let modelChecksum: ForeignText?
    /// What is in the place of the user's own pairs, whether they can be shipped or not.
    package let userPairs: [String: ForeignText]

    /// - Parameter bytes: A property list that nobody vouches for.
    package init(_ bytes: [UInt8]) {
        let root = PropertyListValue(bytes)?.dictionary ?? [:]
        entityVersionHashes = Self.versionHashes(in: root)
        modelVersionIdentifiers = root["NSStoreModelVersionIdentifiers"]?.array?.compactMap(Self.text) ?? []
        storeType = root["NSStoreType"].flatMap(Self.text)
        frameworkVersion = root["NSPersistenceFrameworkVersion"]?.integer
        versionHashesDigest = root["NSStoreModelVersionHashesDigest"].flatMap(Self.text)
        modelChecksum = root["NSStoreModelVersionChecksumKey"].flatMap(Self.text)
        userPairs = (root[UserMetadataPlace.propertyListKey]?.dictionary ?? [:]).compactMapValues(Self.text)
    }

    private static func text(_ value: PropertyListValue) -> ForeignText? { value.string.map { ForeignText($0) } }

    private static func versionHashes(in root: [String: PropertyListValue]) -> [ForeignText: String] {
        guard let hashes = root["NSStoreModelVersionHashes"]?.dictionary, hashes.count <= Limits.entities else {
            return [:]
        }
        let pairs = hashes.compactMap { name, value -> (ForeignText, String)? in
            guard let hash = value.data, hash.count == 32, Label.isValid(ForeignText(name)) else { return nil }
            return (ForeignText(name), Data(hash).base64EncodedString())
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
