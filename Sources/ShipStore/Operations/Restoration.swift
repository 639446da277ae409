public import ShipProtocol
public import StoreOperations
public import SystemPackage

/// The outcome of a restore: the store at `store` has new content.
public struct Restoration: Hashable, Sendable {
    /// Of the store, without symbolic links.
    public let store: FilePath
    /// The manifest of the copy whose content the store has now.
    public let manifest: Manifest
    /// The store as it was, unless none was wanted.
    public let safetyCopy: KeptCopy?
    /// The damage of the store before; `nil` if nothing was.
    public let damage: Damage?
    /// External files of the store's old state that had to stay, and why.
    public let remainingFiles: [RemainingFile]

    /// A store that could not be used any more, or was gone.
    public struct Damage: Hashable, Sendable {
        /// The damage in words; `nil` if nothing was there.
        public let words: String?
        /// The folder in which it is kept, with its sidecars; `nil` if there was nothing to keep.
        public let keptAs: FilePath?
    }
}
