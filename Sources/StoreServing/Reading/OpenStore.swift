import GRDB
import ShipProtocol
import StoreFiles
import StoreFormat
import StoreInbox
import SystemPackage

/// One file that is served: a generation's, or one of its own. Whoever holds this value reads that very file, whatever
/// becomes of its name.
final class OpenStore: Sendable {
    /// Of the generation's folder, or of the file, when it was opened. In an inbox it names nothing else while this value
    /// lives: the folder is kept open. A file of its own is kept open by its connections.
    let identity: FileStatus.Identity
    let connections: ReadConnections
    /// `nil` for a file of its own.
    let generation: GenerationName?
    private let folder: KeptFolder?

    /// In a class, as what is not copyable cannot be in an optional of one.
    private final class KeptFolder: Sendable {
        let folder: OpenFolder
        init(_ folder: consuming OpenFolder) { self.folder = folder }
    }

    /// What is done to each connection before it is used.
    typealias Preparation = @Sendable (Database) throws -> Void

    /// Opens a generation's store, and tries it.
    ///
    /// - Parameters:
    ///   - open: The generation's folder.
    ///   - file: The name of the store in it.
    ///   - gate: Of those who read it.
    /// - Throws: `CoordinatorError`, `DatabaseError`.
    init(
        _ generation: GenerationName, in open: consuming OpenFolder, file: String, _ gate: SuspensionGate,
        preparing: @escaping Preparation
    ) throws {
        let folder = open.path
        let kept = KeptFolder(open)
        let identity = try CoordinatorError.wrapping { () throws(FileError) in try kept.folder.status.identity }
        self.folder = kept
        self.identity = identity
        self.generation = generation
        connections = ReadConnections(in: gate) {
            let queue = try DatabaseQueue(
                opening: kept.folder.pathByDescriptor.appending(file), .settled, .checked, preparing)
            // A folder of the same name may stand where that one was.
            try CoordinatorError.wrapping { () throws(FileError) in
                try PlatformCalls.status(of: folder).expect(identity, folder)
            }
            return queue
        }
        try connections.open(.blocking)
    }

    /// Opens a file of its own, and tries it.
    ///
    /// - Throws: `CoordinatorError`, `DatabaseError`.
    init(_ file: StoreFile, at path: FilePath, _ gate: SuspensionGate, preparing: @escaping Preparation) throws {
        if file.state == .settled { try Self.checkSidecars(of: path) }
        let identity = try CoordinatorError.wrapping { () throws(FileError) in
            try PlatformCalls.statusFollowingLinks(of: path).identity
        }
        self.identity = identity
        folder = nil
        generation = nil
        connections = ReadConnections(in: gate) {
            let queue = try DatabaseQueue(opening: path, file.state, .vouchedFor, preparing)
            try CoordinatorError.wrapping { () throws(FileError) in
                try PlatformCalls.statusFollowingLinks(of: path).expect(identity, path)
            }
            if file.state == .settled { try queue.expectRollbackMode(path) }
            return queue
        }
        try connections.open(.blocking)
    }

    /// Opens a generation's store, and tries it.
    ///
    /// - Throws: `CoordinatorError`, `DatabaseError`.
    convenience init(
        _ generation: Generation, in folder: consuming OpenFolder, _ gate: SuspensionGate,
        preparing: @escaping Preparation
    ) throws {
        let manifest = generation.manifest
        try self.init(
            GenerationName(number: generation.number, digest: manifest.store.sha256), in: folder,
            file: InboxLayout.storeFile(manifest.name), gate, preparing: preparing)
    }

    private static func checkSidecars(of path: FilePath) throws(CoordinatorError) {
        for ending in ["-wal", "-journal"] {
            let sidecar = FilePath(path.string + ending)
            if (try? PlatformCalls.status(of: sidecar)) != nil { throw .notSettled(path, .sidecar(sidecar)) }
        }
    }
}

extension FileStatus {
    /// - Throws: `.noSuchFileOrDirectory` if this is another file: the one that was meant is gone.
    fileprivate func expect(_ identity: Identity, _ path: FilePath) throws(FileError) {
        guard self.identity == identity else { throw FileError(.open, path, .noSuchFileOrDirectory) }
    }
}

extension DatabaseQueue {
    /// Opens a file that must be a regular one: a pipe would never open.
    fileprivate convenience init(
        opening path: FilePath, _ state: StoreFile.State, _ trust: Hardening.Trust,
        _ preparing: @escaping OpenStore.Preparation
    ) throws {
        let status = try CoordinatorError.wrapping { () throws(FileError) in
            try PlatformCalls.statusFollowingLinks(of: path)
        }
        guard status.kind == .file else { throw CoordinatorError.notAFile(path) }
        switch state {
        case .settled:
            var configuration = HardenedConfiguration.make(trust: trust, longestValue: status.size)
            configuration.prepareDatabase(preparing)
            try self.init(path: StoreAddress.of(path), configuration: configuration)
        case .live(let busyTimeout):
            // What is committed next may be longer than the file is now.
            var configuration = HardenedConfiguration.make(trust: trust, longestValue: .max)
            configuration.busyMode = .timeout(busyTimeout / .seconds(1))
            configuration.prepareDatabase(preparing)
            try self.init(path: path.string, configuration: configuration)
        }
    }

    /// - Throws: `.notSettled` for a file in WAL mode.
    fileprivate func expectRollbackMode(_ path: FilePath) throws {
        let header = try unsafeRead { try DatabaseHeader(of: $0) }
        if header?.journalMode == .writeAheadLog { throw CoordinatorError.notSettled(path, .writeAheadLogMode) }
    }
}

extension Generation {
    /// Reads the manifest of a generation that is in an inbox under a name.
    ///
    /// - Throws: `.badManifest` also for one that is of another store, or of another copy than the folder's name says.
    init(_ generation: GenerationName, of name: StoreName, in inbox: Inbox) throws(InboxError) {
        let folder = inbox.layout.generations(name).appending(generation.text)
        let read = try Generation(at: folder)
        let manifest = read.manifest
        guard manifest.name == name,
            GenerationName(number: generation.number, digest: manifest.store.sha256) == generation
        else {
            throw .badManifest(folder.appending(InboxLayout.manifestFile), flaw: "it is of another generation")
        }
        self = read
    }
}
