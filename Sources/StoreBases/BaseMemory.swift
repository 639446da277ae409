import EssentialFoundation
import StoreFiles
public import SystemPackage

/// What a producer remembers: of each store the newest copy that each receiver has acknowledged, so that the next shipment can say
/// what differs from it.
///
///     DIR/index.json            what is remembered, and in which files
///     DIR/objects/<UUID>        a copy, an external file of it, or the manifest that was acknowledged with it; equal ones are kept
///                               once;
///                               or what has gone of a shipment that is not finished (`UnfinishedShipment`)
///     DIR/ship-store-<UUID>     where a copy is made that may be remembered
///
/// Nothing here is needed: what is missing, damaged or not to be had costs bytes. The folder is its user's alone (0700); what others
/// could have read or written is refused, not repaired. Processes take turns (flock on the folder) for as long as the index takes
/// to be written; a copy that somebody reads is locked too, and stays until they are done.
public struct BaseMemory: Hashable, Sendable {
    public let folder: FilePath
    /// Most bytes of remembered files, together.
    public let budget: Int64

    public static let standardBudget: Int64 = 1_000_000_000
    /// What stays free of the disk: one part of so many.
    package static let freeShare: Int64 = 10
    /// Longest state that is kept with a copy, in bytes.
    package static let stateLimit = 4096

    /// How long to wait for another process that changes the index.
    static let patience = Duration.seconds(5)
    static let indexFile: FilePath.Component = "index.json"
    static let objectFolder: FilePath.Component = "objects"

    /// - Parameters:
    ///   - folder: Nothing is made until something is to be remembered.
    ///   - budget: Bytes that all of it may take.
    public init(at folder: FilePath, budget: Int64 = standardBudget) {
        self.folder = folder
        self.budget = budget
    }

    /// The user's own.
    public static var standard: BaseMemory { BaseMemory(at: standardFolder) }

    /// `$XDG_STATE_HOME/ship-store/bases`, or else `~/.local/state/ship-store/bases`. A path there that is not absolute does not
    /// count [XDG Base Directory Specification].
    public static var standardFolder: FilePath {
        let state = ProcessInfo.processInfo.environment["XDG_STATE_HOME"].map { FilePath($0) }
        let parent =
            state.flatMap { $0.isAbsolute ? $0 : nil }
            ?? FilePath(FileManager.default.homeDirectoryForCurrentUser.path).appending(".local").appending("state")
        return parent.appending("ship-store").appending("bases")
    }

    // MARK: The folder

    /// Makes the folder if it is not there.
    func make() throws(BaseMemoryError) {
        // A power cut may take it with all that is in it, which costs bytes.
        try BaseMemoryError.wrapping { () throws(FileError) in try Folder.make(folder, .forNow) }
        _ = try open()
    }

    /// - Returns: `nil` if it is not there.
    func open() throws(BaseMemoryError) -> OpenFolder? {
        guard let opened = try openUnchecked() else { return nil }
        let exposure = try Self.status(of: opened).exposure
        switch exposure {
        case nil: return opened
        case .ofOtherUser(let user): throw .otherOwner(folder, user: user)
        case .toOthers(let permissions): throw .exposed(folder, permissions)
        }
    }

    private static func status(of folder: borrowing OpenFolder) throws(BaseMemoryError) -> FileStatus {
        do throws(FileError) {
            return try folder.status
        } catch {
            throw .file(error)
        }
    }

    private func openUnchecked() throws(BaseMemoryError) -> OpenFolder? {
        do throws(FileError) {
            return try OpenFolder(folder)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return nil
            case .notDirectory, .tooManySymbolicLinkLevels:
                // Something above it may be no folder; then there is nothing here, too.
                guard (try? PlatformCalls.status(of: folder)) != nil else { return nil }
                throw .notPlain(folder)
            default: throw .file(error)
            }
        }
    }

    /// What is remembered; nothing if the folder is not there.
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
            guard status.links == 1 else { throw FileError(.open, path, .invalidArgument) }
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
        switch exposure {
        case nil: break
        case .ofOtherUser(let user): throw .otherOwner(path, user: user)
        case .toOthers(let permissions): throw .exposed(folder.path, permissions)
        }
        do throws(BaseIndex.Flaw) {
            return try BaseIndex.reading(bytes)
        } catch {
            throw .damaged(path, flaw: error.words)
        }
    }

    // MARK: Turns

    private static func lock(_ folder: borrowing OpenFolder) throws(BaseMemoryError) -> FolderLock? {
        do throws(FileError) {
            return try FolderLock.take(.exclusive, on: folder.path, in: folder)
        } catch {
            throw .file(error)
        }
    }

    /// Runs `body` while no other process, and no other task of this one, changes what is remembered.
    ///
    /// - Returns: `nil` if the folder is not there.
    /// - Throws: `.busy` if others do not come to an end.
    func whileLocked<Result>(
        waiting patience: Duration = patience,
        _ body: (inout MemoryChange) throws(BaseMemoryError) -> Result
    ) throws(BaseMemoryError) -> Result? {
        let deadline = ContinuousClock.now + patience
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
