import ShipProtocol
public import StoreOperations
public import SystemPackage

/// The outcome of a move.
public struct Relocation: Hashable, Sendable {
    /// Of the store at its new place.
    public let path: FilePath
    public let outcome: Outcome
    /// Symbolic links by which the user named the old store, which led nowhere once that was gone.
    public let removedLinks: [FilePath]
    /// The files that stayed in the old store's support folder, and why.
    public let remainingFiles: [RemainingFile]

    public enum Outcome: Hashable, Sendable {
        /// Nothing was there.
        case placed(Manifest)
        /// A store of that name was there, and has the content of the moved one.
        case replaced(Restoration)
        /// An earlier move had come this far before it was stopped.
        case wasThere
    }
}
