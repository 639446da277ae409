package import ShipProtocol
import StoreFiles
public import StoreInbox
public import SystemPackage

/// A folder of many copies side by side, of one store or of several.
public struct KeptCopies: Hashable, Sendable {
    public let folder: FilePath

    public init(in folder: FilePath) { self.folder = folder }

    /// What is in the folder.
    public struct Listing: Sendable {
        /// By store, the oldest first.
        public let copies: [KeptCopy]
        /// Folders that are called as a copy is, and why they are none.
        public let damaged: [(path: FilePath, problem: InboxError)]
        /// Files that are called as single copies are, of which this type knows nothing else.
        public let files: [FilePath]
        /// Folders in which restores of stores in this folder keep what was there before.
        public let safetyFolders: [FilePath]

        /// The newest copy that has the tag.
        public func newest(tagged tag: CopyTag) -> KeptCopy? {
            copies.filter { $0.tags.contains(tag) }.max(by: KeptCopy.isOlder)
        }
    }

    /// - Throws: `.file` if the folder is not there, or cannot be read.
    public func list() throws(OperationError) -> Listing {
        var copies: [KeptCopy] = []
        var damaged: [(path: FilePath, problem: InboxError)] = []
        let names = try OperationError.wrapping { () throws(FileError) in try Folder.names(in: folder) }
        for name in names {
            guard CopyFolderName(name) != nil else { continue }
            let path = folder.appending(name)
            do throws(InboxError) {
                copies.append(try KeptCopy(at: path))
            } catch {
                // One that has been pruned since is not damaged.
                if (try? PlatformCalls.status(of: path)) != nil { damaged.append((path, error)) }
            }
        }
        copies.sort {
            $0.manifest.name == $1.manifest.name ? KeptCopy.isOlder($0, $1) : $0.manifest.name < $1.manifest.name
        }
        return Listing(
            copies: copies, damaged: damaged,
            files: names.map { folder.appending($0) }.filter { path in
                path.extension == "sqlite" && CopyFolderName(path.stem ?? "") != nil && kind(of: path) == .file
            },
            safetyFolders: names.filter { $0.hasPrefix(".") && $0.hasSuffix(Self.safetyEnding) }
                .map { folder.appending($0) }.filter { kind(of: $0) == .folder })
    }

    private func kind(of path: FilePath) -> FileStatus.Kind? { (try? PlatformCalls.status(of: path))?.kind }

    /// Where a restore keeps a store as it was, unless told otherwise: beside it, in `.<name without extension>-safety`.
    public static func besideStore(at path: FilePath) -> KeptCopies {
        KeptCopies(in: path.removingLastComponent().appending(".\(path.stem ?? "store")\(safetyEnding)"))
    }

    private static let safetyEnding = "-safety"

    /// Keeps a compact copy, durably: either all of it is there afterwards, or nothing. What an older copy of the same
    /// store has too is a second name for the same file.
    ///
    /// - Parameters:
    ///   - store: On the same file system as the folder, it is not copied, but gets a second name here, and must not be
    ///     written to any more.
    ///   - files: In the order of the manifest.
    ///   - original: Where the store is, for the copy to remember.
    ///   - patience: While others change which copies there are.
    /// - Throws: `.badMetadata`, `.folderBusy`, `.stopped`, `.file`.
    package func keep(
        _ manifest: Manifest, store: FilePath, files: [FileAtHand], of original: FilePath?, _ patience: Patience
    ) throws(OperationError) -> KeptCopy {
        if let flaw = Metadata.firstFlaw(of: manifest.metadata) { throw .badMetadata(flaw) }
        let held = heldParts(of: manifest)
        let staging = try OperationError.wrapping { () throws(FileError) in
            try Folder.make(folder)
            return try TemporaryFolder(in: folder, .besideResults)
        }
        let staged = StagedCopy(in: staging.path.appending("copy"), manifest: manifest)
        try OperationError.wrapping { () throws(FileError) in
            try staged.fill(store: store, files: files, held: held)
        }
        // No two copies get one number, nor one that is lower than that of a copy which is there already.
        return try FolderLock.holding(.exclusive, on: folder, patience) { () throws(OperationError) in
            let record = CopyRecord(number: highestNumber + 1, store: original)
            let path = try OperationError.wrapping { () throws(FileError) in
                try staged.add(record)
                return try place(staged.path, manifest)
            }
            return KeptCopy(Generation(number: 0, path: path, manifest: manifest), record)
        }
    }

    /// Of the copies in the folder; 0 if none has one.
    private var highestNumber: Int { copyNames.compactMap { record(of: $0)?.number }.max() ?? 0 }

    private var copyNames: [CopyFolderName] {
        ((try? Folder.names(in: folder)) ?? []).compactMap { CopyFolderName($0) }
    }

    private func record(of name: CopyFolderName) -> CopyRecord? {
        guard let copy = try? OpenFolder(following: folder.appending(name.text)) else { return nil }
        return (try? CopyRecord.read(in: copy)) ?? nil
    }

    /// Moves a whole copy to the first name that is free.
    private func place(_ staged: FilePath, _ manifest: Manifest) throws(FileError) -> FilePath {
        var ordinal = 1
        while true {
            let name = CopyFolderName(manifest.name, at: manifest.createdAt, ordinal: ordinal)
            let path = folder.appending(name.text)
            do throws(FileError) {
                // Whatever has the name, and be it an empty folder, is not ours to replace.
                try PlatformCalls.renameFolder(staged, toFree: path)
                try Folder.sync(folder)
                return path
            } catch {
                guard error.operation == .rename,
                    [.directoryNotEmpty, .fileExists, .notDirectory].contains(error.errno)
                else {
                    if error.operation == .sync { try? Folder.removeTree(at: path) }
                    throw error
                }
                ordinal += 1
            }
        }
    }

    /// How many copies are looked through for what the next one has too.
    private static let lookBack = 4

    /// What the newest copies of the same store have.
    private func heldParts(of manifest: Manifest) -> [Manifest.Part: FilePath] {
        let names = copyNames.filter { $0.store == manifest.name }
            .map { (number: record(of: $0)?.number ?? 0, name: $0) }
            .sorted { ($0.number, $0.name.time, $0.name.ordinal) < ($1.number, $1.name.time, $1.name.ordinal) }
        var held: [Manifest.Part: FilePath] = [:]
        // The newest comes last, and wins.
        for (_, name) in names.suffix(Self.lookBack) {
            guard let copy = try? Generation(at: folder.appending(name.text)),
                copy.manifest.identity == manifest.identity
            else { continue }
            for (index, part) in copy.manifest.parts.enumerated() where part.size > 0 {
                held[part] = copy.path(ofPart: index)
            }
        }
        return held
    }
}
