public import ShipProtocol
import StoreFiles
public import StoreOperations
public import SystemPackage

/// What a restore has done. Readers in this process are told with it: the store at `store` has new content.
public struct Restoration: Hashable, Sendable {
    /// Of the store, without symbolic links.
    public let store: FilePath
    /// Of the copy whose content the store has now.
    public let manifest: Manifest
    /// The store as it was, unless none was wanted.
    public let safetyCopy: KeptCopy?
    /// What was wrong with the store as it was; `nil` if nothing was.
    public let damage: Damage?
    /// External files of the store as it was that had to stay, and why.
    public let remainingFiles: [RemainingFile]

    /// A store that could not be used any more, or was gone.
    public struct Damage: Hashable, Sendable {
        /// What was wrong; `nil` if nothing was there.
        public let words: String?
        /// The folder in which it is kept as it was, with what was beside it; `nil` if there was nothing to keep.
        public let keptAs: FilePath?
    }
}

/// How a store is restored.
public struct RestoreOptions: Hashable, Sendable {
    /// How long to wait for others who write to the store, or, outside WAL mode, read it; and for operations that are at work on
    /// its external files.
    public var busyTimeout = Duration.seconds(10)
    /// Where the copy is brought into another form, if it has to be.
    public var temporaryFolder: FilePath = TemporaryFolder.defaultParent
    /// Bytes that what is written leaves free on its disk.
    public var keptFree: Int64 = 0
    public var identity = IdentityRule.same
    /// What becomes of a copy that came without something.
    public var incompleteCopy = IncompleteCopyRule.refused
    public var safetyCopy = SafetyCopy.beside
    /// How a copy is checked that comes with its manifest; any other is taken anew.
    public var checking = CheckOptions()

    public init() {}

    /// Whose copy it may be.
    public enum IdentityRule: Hashable, Sendable {
        /// One of this very store: with the same `Z_UUID`; or with none on both sides, and the same schema.
        case same
        case any
    }

    /// What becomes of a copy that came without something, which the store would lose.
    public enum IncompleteCopyRule: Hashable, Sendable {
        case refused
        case taken
    }

    /// What becomes of the store as it was.
    public enum SafetyCopy: Hashable, Sendable {
        /// It is kept in a folder beside the store, `.<name without extension>-safety`.
        case beside
        case kept(KeptCopies)
        /// It is lost.
        case none
    }
}

extension CopyTag {
    /// Of the copies that a restore keeps of the store as it was.
    public static let beforeRestore = "before-restore"
}
