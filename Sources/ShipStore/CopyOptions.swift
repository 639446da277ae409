import StoreFiles
public import StoreSnapshot
public import SystemPackage

/// How a compact copy is taken.
public struct CopyOptions: Sendable {
    /// How long to wait for a connection that has locked the store.
    public var busyTimeout = Duration.seconds(10)
    /// The folder in which a private folder for the copy is made, and removed: its disk needs room for the copy.
    public var temporaryFolder: FilePath = TemporaryFolder.defaultParent {
        didSet { isFolderChosen = true }
    }
    /// Whether the caller has set `temporaryFolder`.
    private(set) var isFolderChosen = false
    /// Bytes that the copy, and its working files, leave free on their disk.
    public var keptFree: Int64 = 0
    /// Whether a copy is taken although the store refers to an external file that does not exist: it is left out, and the manifest says
    /// so. Core Data throws when an app reads the attribute.
    public var allowsMissingExternalFiles = false
    /// Whether a store is taken that has several names, or is mounted alone, and has no log or journal beside this name: what its users
    /// have in a log beside another name is missing from the copy, and what a journal there would undo is in it.
    public var takesSeveralNames = false
    /// Whether a copy is taken that fails SQLite's check, as evidence: no receiver takes it.
    public var takesDamaged = false
    /// The parts that are left out.
    public var profile = CopyProfile()
    /// Whether the caller has reserved room for the copy.
    var hasRoom = false
    /// See `SourceStore.earlierCopy`.
    var earlierCopy: FilePath?
    /// Whether the copy comes in canonical form: see `SourceStore.compactCopy`.
    var inCanonicalForm = true
    /// Whether the copy itself says what was left out of it.
    var marking = OmissionMarking.asFound

    public init() {}
}
