import ShipProtocol
import StoreFiles
public import StoreOperations
import StoreSnapshot
public import SystemPackage

/// How a store is moved.
public struct MoveOptions: Hashable, Sendable {
    /// What becomes of the store at its old place.
    public var original = Original.kept
    /// What becomes of a store of that name at the new place.
    public var occupant = Occupant.refused
    /// How the store at the new place is replaced, if one is.
    public var restore = RestoreOptions()

    public init() {}

    public enum Original: Hashable, Sendable {
        case kept
        /// It goes once the new one is whole; nobody else may have it open.
        case removed
    }

    public enum Occupant: Hashable, Sendable {
        /// It is in the way.
        case refused
        /// It gets the content of the one that is moved, as in a restore.
        case replaced
    }
}

/// What a move has done.
public struct Relocation: Hashable, Sendable {
    /// Of the store at its new place.
    public let path: FilePath
    public let way: Way
    /// Symbolic links by which the user named the old store, which led nowhere once that was gone.
    public let removedLinks: [FilePath]
    /// What stayed in the old store's support folder, and why.
    public let remainingFiles: [RemainingFile]

    init(
        path: FilePath, way: Way, removedLinks: [FilePath] = [], remainingFiles: [RemainingFile] = []
    ) {
        self.path = path
        self.way = way
        self.removedLinks = removedLinks
        self.remainingFiles = remainingFiles
    }

    public enum Way: Hashable, Sendable {
        /// Nothing was there.
        case placed(Manifest)
        /// A store of that name was there, and has the content of the moved one.
        case replaced(Restoration)
        /// An earlier move had come this far before it was stopped.
        case wasThere
    }
}

extension LocalStore {
    /// Puts the store into another folder under its name: with its identity, its history, its keys and its external files,
    /// in its journal mode; and with whatever else lies in its support folder. What is there in the end has been read back and checked.
    public func move(
        to folder: FilePath, options: MoveOptions = MoveOptions()
    ) async throws(ShipmentError) -> Relocation {
        try await OperationRun.run(waiting: self.options.busyTimeout) { patience in
            let named = NamedStore(path)
            let removal = StoreRemoval(of: named.home)
            guard (try? PlatformCalls.status(of: named.home.path)) != nil || removal.store != nil else {
                // A killed move may have come to its end.
                removal.sweep()
                TemporaryFolder.sweep(folder, .besideResults)
                throw OperationError.noSuchStore(path)
            }
            if options.original == .removed { try named.home.refuseIfKept(.move) }
            try Folder.make(folder)
            let folder = try PlatformCalls.realPath(of: folder)
            let session = MoveSession(
                store: self, options: options, patience: patience,
                target: StoreHome(folder.appending(path.lastComponent?.string ?? "store")))
            return try await session.run()
        }
    }
}
