import StoreBases
public import StoreOperations
public import SystemPackage

/// The outcome for a destroyed store and the files beside it; or, from `destructionPlan`, the outcome to expect.
public struct Destruction: Hashable, Sendable {
    /// The store, without symbolic links.
    public let store: FilePath
    /// The symbolic links by which the user named it, which led nowhere without it.
    public let links: [FilePath]
    /// The files that would go with it, from `destructionPlan`: its sidecars and external files.
    public let files: [FilePath]
    /// The files that stay in its support folder, and why.
    public let remainingFiles: [RemainingFile]
    /// The copies of it that were remembered, as they had been acknowledged by receivers.
    public let rememberedCopies: [BaseRecord]
}
