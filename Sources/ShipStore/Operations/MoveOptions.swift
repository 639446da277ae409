/// How a store is moved.
public struct MoveOptions: Hashable, Sendable {
    /// Whether the store at its old place is removed once the new one is complete: no other program may have it open then.
    public var removesOriginal = false
    /// Whether a store of that name at the new place gets the content of the moved store, as in a restore; otherwise it is in the way.
    public var replacesOccupant = false
    /// How the store at the new place is replaced, if one is.
    public var restore = RestoreOptions()

    public init() {}
}
