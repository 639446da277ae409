public import ShipProtocol
public import StoreInbox

/// Something that a reader of a store may want to react to.
public enum StoreChange: Hashable, Sendable {
    /// Another generation is current.
    case generation(GenerationChange)
    /// The store has no current generation any more.
    case removed(StoreName)
    /// A file was replaced or restored where it stands: all of it may be different.
    case rewritten(StoreName)
    /// Another generation is current, and what it is cannot be told: its number, and why.
    case unreadable(StoreName, generation: Int, InboxError)

    public var store: StoreName {
        switch self {
        case .generation(let change): change.store
        case .removed(let name), .rewritten(let name), .unreadable(let name, _, _): name
        }
    }
}
