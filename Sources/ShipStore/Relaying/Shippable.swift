import ShipProtocol

/// The source that a producer ships under one name.
enum Shippable: Sendable {
    /// A copy of a live store.
    case live(Producer.Source)
    /// A store that an inbox holds; watched, if it is shipped several times.
    case held(HeldStore, WatchedStore?)

    var name: StoreName {
        switch self {
        case .live(let source): source.name
        case .held(let store, _): store.name
        }
    }
}
