/// The fate of the mark inside a copy that says what it came without.
package enum OmissionMarking: Hashable, Sendable {
    /// The store's own stays, and nothing is added: the manifest goes with the copy.
    case asFound
    /// The parts that are left out now are added to it.
    case written
    /// It is removed: the copy is to become the store.
    case removed
}
