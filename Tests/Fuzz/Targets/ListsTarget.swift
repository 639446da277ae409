// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding CoreDataReading

import CoreDataReading

/// The bytes are a property list. What can be read can be changed, says the same of everything else, and gives itself again
/// once the change is undone.
enum ListsTarget {
    private static let key = "ShipStoreMetadata"
    private static let pairs = PropertyListValue.dictionary(["app": .string("4.2")])

    static func run(_ input: [UInt8]) {
        _ = PropertyListValue(input)
        _ = CoreDataPropertyList(input)
        guard var list = EditablePropertyList(input), let before = PropertyListValue(input)?.dictionary else { return }
        list.set(pairs, for: key)
        // A list at the limits may be beyond them now.
        guard let changed = PropertyListValue(list.bytes)?.dictionary else { return }
        precondition(changed[key] == pairs, "the pairs")
        // NaN is not itself.
        precondition(Set(changed.keys) == Set(before.keys).union([key]), "the other keys")
        list.set(nil, for: key)
        let bare = list.bytes
        list.set(pairs, for: key)
        list.set(nil, for: key)
        precondition(list.bytes == bare, "what is undone")
    }
}
