import ShipProtocol

/// What a producer ships under one name.
enum Shippable: Sendable {
    /// A copy of a live store.
    case live(Producer.Source)
    /// What an inbox holds; watched, if it is shipped several times.
    case held(HeldStore, WatchedStore?)

    var name: StoreName {
        switch self {
        case .live(let source): source.name
        case .held(let store, _): store.name
        }
    }
}
