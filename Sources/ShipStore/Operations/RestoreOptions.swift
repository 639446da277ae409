import StoreFiles
public import StoreOperations
public import SystemPackage

/// How a store is restored.
public struct RestoreOptions: Hashable, Sendable {
    /// How long to wait for programs that write to the store, or, outside WAL mode, read it; and for operations on its external files.
    public var busyTimeout = Duration.seconds(10)
    /// Where the copy is brought into another form, if it has to be.
    public var temporaryFolder: FilePath = TemporaryFolder.defaultParent
    /// Bytes that stay free on the disks that are written to.
    public var keptFree: Int64 = 0
    /// Whether it may be a copy of another store. A copy of this one has the same `Z_UUID`; or neither has one, and both have the same
    /// schema.
    public var takesOtherIdentity = false
    /// Whether a copy is taken that lacks something, which the store would lose.
    public var takesIncompleteCopy = false
    /// Whether a copy of a damaged store is taken, which the store would be like.
    public var takesDamagedCopy = false
    public var safetyCopy = SafetyCopy.beside
    /// How a copy is checked that comes with its manifest; any other is taken anew.
    public var checking = CheckOptions()

    public init() {}

    /// The fate of the store as it was.
    public enum SafetyCopy: Hashable, Sendable {
        /// It is kept in a folder beside the store, `.<name without extension>-safety`.
        case beside
        case kept(KeptCopies)
        /// It is lost.
        case none
    }
}
