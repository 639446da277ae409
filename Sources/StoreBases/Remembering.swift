/// The outcome for a copy that was to be remembered.
package enum Remembering: Hashable, Sendable {
    case remembered
    /// It is larger than the budget.
    case tooLarge
    /// The disk is too full, even if everything else is forgotten.
    case noRoom
    /// The state, the receiver's name or the path is longer than its limit.
    case tooLong
    /// The file is not the manifest's.
    case otherFile
    case failed(BaseMemoryError)
}
