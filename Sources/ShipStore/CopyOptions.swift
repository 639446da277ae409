import StoreFiles
public import StoreSnapshot
public import SystemPackage

/// How a compact copy is taken.
public struct CopyOptions: Sendable {
    /// How long to wait for a connection that keeps everybody out of the store.
    public var busyTimeout = Duration.seconds(10)
    /// Where the copy is made: a folder with room for it. A private folder inside it comes and goes.
    public var temporaryFolder: FilePath = TemporaryFolder.defaultParent {
        didSet { isFolderChosen = true }
    }
    /// Whether somebody has said where the copy is made.
    private(set) var isFolderChosen = false
    /// Bytes that the copy, and what is made on the way to it, leave free on their disk.
    public var keptFree: Int64 = 0
    /// What becomes of a reference to an external file that is not there.
    public var missingExternalFiles = MissingExternalFiles.refuse
    /// What is left out.
    public var profile = CopyProfile()
    /// Whether somebody has its room promised already.
    var hasRoom = false
    /// What is made of it.
    var form = CopyForm.canonical
    /// Whether it says itself what it came without.
    var marking = OmissionMarking.asFound

    public init() {}
}
