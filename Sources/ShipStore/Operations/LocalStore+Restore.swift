public import ShipProtocol
import StoreFiles
public import StoreOperations
public import SystemPackage

extension LocalStore {
    /// Gives the store the content of a copy while other programs have it open: they see one transaction. The store keeps
    /// its file, its journal mode and its page size. External files that the new content needs are there before it.
    ///
    /// If the store is gone, or SQLite cannot open it, the copy takes its place. What is left of the store is kept in a
    /// folder beside it; programs that have the damaged file open keep that.
    ///
    /// - Parameters:
    ///   - copy: The folder of a kept copy or of a generation, or any store: it is checked, and stays as it is.
    ///   - options: Whose copy it may be, and what becomes of the store as it was.
    public func restore(
        from copy: FilePath, options: RestoreOptions = RestoreOptions()
    ) async throws(ShipmentError) -> Restoration {
        try await LocalStore.run(waiting: options.busyTimeout) { busyHandler in
            let home = try StoreHome(placing: path)
            try home.refuseIfKept(.restore)
            if (try? StoreHome(resolving: copy)) == home { throw OperationError.sameStore(path) }
            var copyOptions = CopyOptions()
            copyOptions.busyTimeout = options.busyTimeout
            copyOptions.temporaryFolder = options.temporaryFolder
            copyOptions.inCanonicalForm = false
            copyOptions.keptFree = options.keptFree
            copyOptions.marking = .removed
            copyOptions.takesDamaged = options.takesDamagedCopy
            let source = try await RestoreSource.find(
                copy, copyOptions, takingIncomplete: options.takesIncompleteCopy, busyHandler)
            let lock = try SupportFolderLock.take(
                home.supportFolder, toPut: !source.files.isEmpty, busyHandler)
            defer { withExtendedLifetime(lock) {} }
            return try await RestoreSession(home: home, supportLock: lock, options: options, busyHandler: busyHandler)
                .run(from: source)
        }
    }
}

/// What a restore has done: the store at `store` has new content.
public struct Restoration: Hashable, Sendable {
    /// Of the store, without symbolic links.
    public let store: FilePath
    /// The manifest of the copy whose content the store has now.
    public let manifest: Manifest
    /// The store as it was, unless none was wanted.
    public let safetyCopy: KeptCopy?
    /// What was wrong with the store before; `nil` if nothing was.
    public let damage: Damage?
    /// External files of the store's old state that had to stay, and why.
    public let remainingFiles: [RemainingFile]

    /// A store that could not be used any more, or was gone.
    public struct Damage: Hashable, Sendable {
        /// What was wrong; `nil` if nothing was there.
        public let words: String?
        /// The folder in which it is kept, with its sidecars; `nil` if there was nothing to keep.
        public let keptAs: FilePath?
    }
}

/// How a store is restored.
public struct RestoreOptions: Hashable, Sendable {
    /// How long to wait for programs that write to the store, or, outside WAL mode, read it; and for operations on its external
    /// files.
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

    /// What becomes of the store as it was.
    public enum SafetyCopy: Hashable, Sendable {
        /// It is kept in a folder beside the store, `.<name without extension>-safety`.
        case beside
        case kept(KeptCopies)
        /// It is lost.
        case none
    }
}
