public import ShipProtocol

/// Which of a coordinator's stores is meant: `"Recipes"`, `.named(name)`, `0`, or the only one.
public enum StoreSelection: Hashable, Sendable {
    /// The one there is.
    case only
    case name(String)
    /// From 0: by name in an inbox, in the order given for files. What is there at the moment counts.
    case index(Int)

    public static func named(_ name: StoreName) -> StoreSelection { .name(name.text) }
}

extension StoreSelection: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral name: String) { self = .name(name) }
    public init(integerLiteral index: Int) { self = .index(index) }
}

extension StoreSelection {
    /// - Parameter stores: In their order.
    func choose<Store>(from stores: [Store], named nameOf: (Store) -> StoreName) throws(CoordinatorError) -> Store {
        switch self {
        case .only:
            guard stores.count == 1, let store = stores.first else { throw .notOneStore(count: stores.count) }
            return store
        case .name(let name):
            guard let store = stores.first(where: { nameOf($0).text == name }) else { throw .noSuchStore(name) }
            return store
        case .index(let index):
            guard stores.indices.contains(index) else { throw .noSuchIndex(index, count: stores.count) }
            return stores[index]
        }
    }
}
