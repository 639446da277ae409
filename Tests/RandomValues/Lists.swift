extension ValueKind {
    /// Property lists, plain and archived.
    package static let lists = [
        ValueKind("property list", "BLOB") { choices in
            let keys = (0...choices.below(9)).map { _ in choices.word() }
            let isUniquing = choices.chance(85)
            return { choices, place in .blob(list(choices, keys, place.isEdited, isUniquing: isUniquing)) }
        },
        ValueKind("list of texts", "BLOB") { choices in
            let most = choices.pick([3, 60])
            return { choices, place in
                let texts = (0..<choices.below(most)).map { _ in
                    ListObject.text(choices.sentence(2, isEdited: place.isEdited))
                }
                return .blob(PropertyListBytes.of(.array(texts)))
            }
        },
        ValueKind("archive", "BLOB") { choices in
            let keys = Array(Set((0...choices.below(7)).map { _ in choices.word() })).sorted()
            return { choices, place in .blob(archive(choices, keys, place.isEdited)) }
        },
        storeMetadata,
        ValueKind("cut or wrong property list", "BLOB") { _ in
            { choices, place in
                var bytes = list(choices, ["a", "b"], place.isEdited)
                if choices.chance(50) {
                    bytes.removeLast(choices.below(bytes.count))
                } else {
                    for _ in 0...choices.below(3) { bytes[choices.below(bytes.count)] = UInt8(choices.below(256)) }
                }
                return .blob(bytes)
            }
        },
    ]

    /// What Core Data keeps in `Z_METADATA`.
    package static let storeMetadata = ValueKind("metadata of a store", "BLOB") { choices in
        let entities = Array(Set((0...choices.below(20)).map { _ in choices.word() })).sorted()
        return { choices, place in
            let hashes = entities.map { ListObject.Pair($0, .data(choices.bytes(32))) }
            let own = (0..<choices.below(4)).map { _ in
                ListObject.Pair(choices.word(), .text(choices.sentence(3, isEdited: place.isEdited)))
            }
            return .blob(
                PropertyListBytes.of(
                    .dictionary([
                        .init("NSStoreModelVersionHashes", .dictionary(hashes)), .init("NSStoreType", .text("SQLite")),
                        .init("NSStoreModelVersionIdentifiers", .array([.text(choices.word())])),
                        .init("NSPersistenceFrameworkVersion", .integer(Int64(choices.below(2000)))),
                        .init("NSStoreModelVersionHashesVersion", .integer(3)),
                        .init("_NSAutoVacuumLevel", .text("2")), .init("own", .dictionary(own)),
                    ])))
        }
    }

    static func list(_ choices: Choices, _ keys: [String], _ isEdited: Bool, isUniquing: Bool = true) -> [UInt8] {
        var names: Set<String> = []
        let pairs = keys.filter { names.insert($0).inserted && choices.chance(90) }.map {
            ListObject.Pair($0, object(choices, depth: 0, isEdited))
        }
        return PropertyListBytes.of(.dictionary(pairs), isUniquing: isUniquing)
    }

    private static func leaf(_ choices: Choices, _ isEdited: Bool) -> ListObject {
        switch choices.below(14) {
        case 0: .no
        case 1: .yes
        case 2: .integer(choices.integer())
        case 3: .integer(Int64(choices.below(9)))
        case 4: .large(choices.bits() | 1 << 63)
        case 5: .real(Double(choices.below(1000)) / 8)
        case 6: .float(Float(choices.below(1000)) / 8)
        case 7: .date(700_000_000 + Double(choices.below(1 << 30)))
        case 8: .data(choices.bytes(choices.length(upTo: 60)))
        case 9: .text(String(repeating: "Größe 東京 ", count: choices.below(4)))
        case 10: .text("")
        case 11: .null
        default: .text(choices.sentence(choices.below(20), isEdited: isEdited))
        }
    }

    private static func object(_ choices: Choices, depth: Int, _ isEdited: Bool) -> ListObject {
        switch choices.below(depth < 4 ? 12 : 9) {
        case 9: .array((0..<choices.below(20)).map { _ in object(choices, depth: depth + 1, isEdited) })
        case 10:
            .dictionary((0..<choices.below(5)).map { .init("k\($0)", object(choices, depth: depth + 1, isEdited)) })
        case 11: choices.chance(30) ? .set((0..<choices.below(4)).map { .integer(Int64($0)) }) : .array([])
        default: leaf(choices, isEdited)
        }
    }

    // MARK: Archives

    /// As NSKeyedArchiver makes them: a table of objects, which refer to one another by their places in it.
    private static func archive(_ choices: Choices, _ keys: [String], _ isEdited: Bool) -> [UInt8] {
        var table = ArchiveTable()
        let root = table.add(choices, keys, depth: 0, isEdited)
        return PropertyListBytes.of(
            .dictionary([
                .init("$version", .integer(100_000)), .init("$archiver", .text("NSKeyedArchiver")),
                .init("$top", .dictionary([.init("root", .uid(root))])), .init("$objects", .array(table.objects)),
            ]))
    }

    private struct ArchiveTable {
        private(set) var objects: [ListObject] = [.text("$null")]
        private var classes: [[String]: Int] = [:]
        private var texts: [String: Int] = [:]

        private mutating func text(_ text: String) -> ListObject {
            if let place = texts[text] { return .uid(place) }
            objects.append(.text(text))
            texts[text] = objects.count - 1
            return .uid(objects.count - 1)
        }

        private mutating func archivedClass(_ names: [String]) -> ListObject.Pair {
            let place = classes[names] ?? objects.count
            if classes.updateValue(place, forKey: names) == nil {
                objects.append(
                    .dictionary([
                        .init("$classname", .text(names[0])), .init("$classes", .array(names.map { .text($0) })),
                    ]))
            }
            return .init("$class", .uid(place))
        }

        /// - Returns: The place of an object in the table.
        mutating func add(_ choices: Choices, _ keys: [String], depth: Int, _ isEdited: Bool) -> Int {
            let place = objects.count
            objects.append(.null)
            func more() -> Int { choices.below(depth < 3 ? 9 : 5) }
            switch depth == 0 ? 5 : more() {
            case 0: objects[place] = leaf(choices, isEdited)
            case 1: objects[place] = .text(choices.sentence(3, isEdited: isEdited))
            case 2:
                objects[place] = .dictionary([
                    .init("NS.time", .real(Double(choices.below(1 << 30)))), archivedClass(["NSDate", "NSObject"]),
                ])
            case 3:
                objects[place] = .dictionary([
                    .init("NS.uuidbytes", .data(choices.bytes(16))), archivedClass(["NSUUID", "NSObject"]),
                ])
            case 4:
                // An object that others refer to, too.
                objects[place] = .dictionary([
                    .init("NS.relative", text("https://\(choices.word()).example/")),
                    .init("NS.base", .uid(choices.below(objects.count))), archivedClass(["NSURL", "NSObject"]),
                ])
            case 5, 6:
                let names = keys.map { text($0) }
                let values = keys.map { _ in ListObject.uid(add(choices, keys, depth: depth + 1, isEdited)) }
                objects[place] = .dictionary([
                    .init("NS.keys", .array(names)), .init("NS.objects", .array(values)),
                    archivedClass(
                        choices.chance(80)
                            ? ["NSDictionary", "NSObject"] : ["NSMutableDictionary", "NSDictionary", "NSObject"]),
                ])
            default:
                let elements = (0..<choices.below(5)).map { _ in
                    ListObject.uid(
                        choices.chance(20)
                            ? choices.below(objects.count) : add(choices, keys, depth: depth + 1, isEdited))
                }
                objects[place] = .dictionary([
                    .init("NS.objects", .array(elements)),
                    archivedClass([choices.pick(["NSArray", "NSSet"]), "NSObject"]),
                ])
            }
            return place
        }
    }
}
