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

        /// The newest copy that has the tag.
        public func newest(tagged tag: CopyTag) -> KeptCopy? {
            copies.filter { $0.tags.contains(tag) }.max(by: KeptCopy.isOlder)
        }
    }

    /// - Throws: `.file` if the folder is not there, or cannot be read.
    public func list() throws(OperationError) -> Listing {
        var copies: [KeptCopy] = []
        var damaged: [(path: FilePath, problem: InboxError)] = []
        for name in try OperationError.wrapping({ () throws(FileError) in try Folder.names(in: folder) }) {
            guard CopyFolderName(name) != nil else { continue }
            let path = folder.appending(name)
            do throws(InboxError) {
                copies.append(KeptCopy(try Generation(at: path)))
            } catch {
                damaged.append((path, error))
            }
        }
        copies.sort {
            ($0.manifest.name, $1.manifest.name) == ($1.manifest.name, $0.manifest.name)
                ? KeptCopy.isOlder($0, $1) : $0.manifest.name < $1.manifest.name
        }
        return Listing(copies: copies, damaged: damaged)
    }

    /// Keeps a compact copy, durably: either all of it is there afterwards, or nothing. What an older copy of the same
    /// store has too is a second name for the same file.
    ///
    /// - Parameters:
    ///   - store: On the same file system as the folder, it is not copied, but gets a second name here, and must not be
    ///     written to any more.
    ///   - files: In the order of the manifest.
    /// - Throws: `.badMetadata`, `.file`.
    package func keep(_ manifest: Manifest, store: FilePath, files: [FileAtHand]) throws(OperationError) -> KeptCopy {
        if let flaw = Metadata.firstFlaw(of: manifest.metadata) { throw .badMetadata(flaw) }
        let held = heldParts(of: manifest)
        let path = try OperationError.wrapping { () throws(FileError) in
            try Folder.make(folder)
            let staging = try TemporaryFolder(in: folder, .besideResults)
            let staged = StagedCopy(in: staging.path.appending("copy"), manifest: manifest)
            try staged.fill(store: store, files: files, held: held)
            return try place(staged.path, manifest)
        }
        return KeptCopy(Generation(number: 0, path: path, manifest: manifest))
    }

    /// Moves a whole copy to the first name that is free.
    private func place(_ staged: FilePath, _ manifest: Manifest) throws(FileError) -> FilePath {
        var ordinal = 1
        while true {
            let name = CopyFolderName(manifest.name, at: manifest.createdAt, ordinal: ordinal)
            let path = folder.appending(name.text)
            do throws(FileError) {
                // A folder is never renamed over one that has something in it.
                try PlatformCalls.rename(staged, to: path)
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
        let names = ((try? Folder.names(in: folder)) ?? []).compactMap { CopyFolderName($0) }
            .filter { $0.store == manifest.name }.sorted { ($0.time, $0.ordinal) < ($1.time, $1.ordinal) }
        var held: [Manifest.Part: FilePath] = [:]
        // The newest comes last, and wins.
        for name in names.suffix(Self.lookBack) {
            guard let copy = try? Generation(at: folder.appending(name.text)),
                copy.manifest.identity == manifest.identity
            else { continue }
            for (index, part) in copy.manifest.parts.enumerated() where part.size > 0 {
                held[part] = copy.path(ofPart: index)
            }
        }
        return held
    }

    /// Removes copies, each in one step for whoever looks.
    ///
    /// - Throws: `.file` at the first that cannot be removed.
    public func remove(_ copies: [KeptCopy]) throws(OperationError) {
        guard !copies.isEmpty else { return }
        try OperationError.wrapping { () throws(FileError) in
            let bin = try TemporaryFolder(in: folder, .besideResults)
            for (index, copy) in copies.enumerated() {
                try PlatformCalls.rename(copy.path, to: bin.path.appending("\(index)"))
            }
            try Folder.sync(folder)
        }
    }
}

extension KeptCopy {
    /// By the time at which they were taken, and within one second by their order.
    package static func isOlder(_ left: KeptCopy, _ right: KeptCopy) -> Bool {
        func order(_ copy: KeptCopy) -> (Timestamp, Int) {
            (copy.manifest.createdAt, copy.path.lastComponent.flatMap { CopyFolderName($0.string) }?.ordinal ?? 1)
        }
        return order(left) < order(right)
    }
}
