/// The result of a suspension.
public enum Suspension: Hashable, Sendable {
    /// Nothing of the inbox, and no store, is locked, leased or open any more through the coordinator and its pins.
    case complete
    /// This number of reads had not ended when the time was over: their bodies are busy with something other than the database.
    /// Locks on generations are given back all the same; the connection of such a read is closed as the read ends. A look for
    /// changes counts as a read.
    case readsUnderWay(Int)
    /// `resume` was called meanwhile.
    case resumed
}
