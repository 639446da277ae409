/// The state of a coordinator's pins, without the released ones, once it is resumed.
public struct Resumption: Sendable {
    /// They hold their generations, as before.
    public internal(set) var kept: [Pin] = []
    /// Their generations were removed meanwhile: their reads throw `CoordinatorError.generationGone`.
    public internal(set) var gone: [Pin] = []
    /// Their generations may be there, and cannot be held now. Their reads throw the error, a `CoordinatorError` or GRDB's
    /// `DatabaseError`; another `resume` tries again.
    public internal(set) var failed: [(pin: Pin, error: any Error)] = []
}
