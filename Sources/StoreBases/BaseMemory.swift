package import StoreFiles
public import SystemPackage

/// The memory of a producer: for each store, the newest copy that each receiver has acknowledged, and the copies that the user has added
/// and pinned. The next shipment sends only what differs from one of them.
///
///     DIR/index.json            what is remembered, and in which files
///     DIR/objects/<UUID>        a copy, an external file of a copy, or the manifest that was acknowledged with a copy; equal files
///                               are kept once;
///                               or the data that an unfinished shipment has sent (`UnfinishedShipment`)
///     DIR/ship-store-<UUID>     where a copy is made that may be remembered
///     DIR/honours-conditions-*  for each bucket of object storage that was tried (`BucketPublication`)
///
/// Shipments do not need the memory: what is missing or damaged costs bytes. But only an index that can be read says that no other store went
/// under a name. Only the folder's user has access to it (0700); a folder that others could have read or written is refused, not
/// repaired. Processes that change the index exclude each other with flock(2) on the folder. A reader locks the copy that it reads; the
/// copy stays until then.
public struct BaseMemory: Hashable, Sendable {
    public let folder: FilePath
    /// Most bytes of remembered files, together.
    public let budget: Int64
    /// Whether its files are in the RAM of this process, as it has made them: no medium damages them.
    let isInRAM: Bool

    public static let standardBudget: Int64 = 1_000_000_000
    /// The share of the disk that stays free: one part in `freeShare`.
    package static let freeShare: Int64 = 10

    /// How long to wait for another process that changes the index.
    static let lockTimeout = Duration.seconds(5)
    static let indexFile: FilePath.Component = "index.json"
    static let objectFolder: FilePath.Component = "objects"

    /// - Parameters:
    ///   - folder: Nothing is made until something is to be remembered.
    ///   - budget: Bytes that all of it may take.
    public init(at folder: FilePath, budget: Int64 = standardBudget) {
        (self.folder, self.budget, isInRAM) = (folder, budget, false)
    }

    /// A memory that goes with this process, in a folder in RAM that it has alone.
    package init(inRAM folder: FilePath, budget: Int64) {
        (self.folder, self.budget, isInRAM) = (folder, budget, true)
    }

    /// The user's own.
    public static var standard: BaseMemory { BaseMemory(at: standardFolder) }

    /// `$XDG_STATE_HOME/ship-store/bases`, or `~/.local/state/ship-store/bases` where the variable is not an absolute path
    /// [XDG Base Directory Specification].
    public static var standardFolder: FilePath {
        UserFolder.named("XDG_STATE_HOME", or: ".local/state").appending("ship-store").appending("bases")
    }

    // MARK: The folder

    func path(ofObject id: String) -> FilePath { folder.appending(Self.objectFolder).appending(id) }

    /// Why nothing more can be remembered: a file in the place of a folder, or a folder that may not be written to.
    package var obstacle: FileError? {
        var place = folder
        while place.lastComponent != nil, (try? PlatformCalls.isThere(place)) == false { place.removeLastComponent() }
        guard let kind = try? PlatformCalls.statusFollowingLinks(of: place).kind else { return nil }
        if kind == .folder, PlatformCalls.canWrite(place) { return nil }
        return FileError(.makeFolderIn, place, kind == .folder ? .permissionDenied : .notDirectory)
    }

    /// Makes the folder if it is not there. Where it is not made durably, a power cut may remove it again: that costs bytes.
    func make(durably: Bool = false) throws(BaseMemoryError) {
        try BaseMemoryError.wrapping { () throws(FileError) in try Folder.make(folder, durably: durably) }
        _ = try open()
    }

    /// - Returns: `nil` if it is not there.
    func open() throws(BaseMemoryError) -> OpenFolder? {
        guard let opened = try openUnchecked() else { return nil }
        let exposure = try BaseMemoryError.wrapping { () throws(FileError) in try opened.status.exposure }
        try Self.check(exposure, of: folder, in: folder)
        return opened
    }

    private static func check(_ exposure: Exposure?, of path: FilePath, in folder: FilePath) throws(BaseMemoryError) {
        switch exposure {
        case nil: break
        case .ofOtherUser(let user): throw .otherOwner(path, user: user)
        case .toOthers(let permissions): throw .exposed(folder, permissions)
        }
    }

    private func openUnchecked() throws(BaseMemoryError) -> OpenFolder? {
        do throws(FileError) {
            return try OpenFolder(folder)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return nil
            case .notDirectory, .tooManySymbolicLinkLevels:
                // If a file stands in the place of a folder above it, there is no memory either.
                guard (try? PlatformCalls.isThere(folder)) ?? true else { return nil }
                throw .notPlain(folder)
            default: throw .file(error)
            }
        }
    }

    /// The index of what is remembered; empty if the folder is not there.
    func index() throws(BaseMemoryError) -> BaseIndex {
        guard let opened = try open() else { return BaseIndex() }
        return try Self.index(in: opened)
    }

    static func index(in folder: borrowing OpenFolder) throws(BaseMemoryError) -> BaseIndex {
        let path = folder.path.appending(indexFile)
        let bytes: [UInt8]
        let exposure: Exposure?
        do throws(FileError) {
            let file = try folder.file(at: path)
            let status = try file.status
            // Without a name it was replaced after it had been opened, and is what it was until then.
            guard status.links <= 1 else { throw FileError(.open, path, .invalidArgument) }
            exposure = status.exposure
            guard status.size <= BaseIndex.sizeLimit else { throw FileError(.read, path, .fileTooLarge) }
            bytes = try file.read(Int(status.size), at: 0)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return BaseIndex()
            case .invalidArgument, .tooManySymbolicLinkLevels: throw .notPlain(path)
            case .fileTooLarge: throw .damaged(path, flaw: "it is too large")
            default: throw .file(error)
            }
        }
        try check(exposure, of: path, in: folder.path)
        return try decodedIndexes.value(of: bytes) { (bytes) throws(BaseMemoryError) in
            try BaseIndex(decoding: bytes, from: path)
        }
    }

    /// Those that were read or written last: a session of many stores reads the same bytes several times for each store.
    static let decodedIndexes = DecodedOnce<BaseIndex>(upTo: Int(BaseIndex.sizeLimit))

    // MARK: Locking

    private static func lock(_ folder: borrowing OpenFolder) throws(BaseMemoryError) -> FolderLock? {
        try BaseMemoryError.wrapping { () throws(FileError) in
            try FolderLock.take(.exclusive, on: folder.path, in: folder)
        }
    }

    /// Runs `body` while no other process, and no other task of this one, changes what is remembered.
    ///
    /// - Returns: `nil` if the folder is not there.
    /// - Throws: `.busy` if others hold the lock for longer than `timeout`.
    func whileLocked<Result>(
        waiting timeout: Duration = lockTimeout,
        _ body: (inout MemoryChange) throws(BaseMemoryError) -> Result
    ) throws(BaseMemoryError) -> Result? {
        let deadline = ContinuousClock.now + timeout
        while true {
            guard let opened = try open() else { return nil }
            if let lock = try Self.lock(opened) {
                let index = try Self.index(in: opened)
                var change = MemoryChange(opened, index, holding: lock)
                change.settle()
                return try body(&change)
            }
            guard .now < deadline else { throw .busy(folder) }
            if Task.isCancelled { throw .stopped }
            PlatformCalls.pause(.milliseconds(5))
        }
    }
}
