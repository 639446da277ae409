package import ShipProtocol
package import StoreFiles
public import StoreInbox
public import SystemPackage

/// A folder of many copies side by side, of one store or of several.
public struct KeptCopies: Hashable, Sendable {
    public let folder: FilePath

    public init(in folder: FilePath) { self.folder = folder }

    /// The content of the folder.
    public struct Listing: Sendable {
        /// By store, the oldest first.
        public let copies: [KeptCopy]
        /// Folders with the name of a copy, and why they are none.
        public let damaged: [(path: FilePath, problem: InboxError)]
        /// Files with the name of a single copy: only the name is known of them.
        public let files: [FilePath]
        /// Folders in which restores of stores in this folder keep what was there before.
        public let safetyFolders: [FilePath]

        /// The newest sound copy that has the tag.
        public func newest(tagged tag: CopyTag) -> KeptCopy? {
            copies.filter { $0.tags.contains(tag) && $0.damage == nil }.max(by: KeptCopy.isOlder)
        }
    }

    /// - Throws: `.file` if the folder is not there, or cannot be read.
    public func list() throws(OperationError) -> Listing {
        var copies: [KeptCopy] = []
        var damaged: [(path: FilePath, problem: InboxError)] = []
        let names = try OperationError.wrapping { () throws(FileError) in try Folder.names(in: folder) }
        for name in names {
            guard CopyFolderName(name) != nil else { continue }
            let path = folder.appending(text: name)
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
            files: names.map { folder.appending(text: $0) }.filter { path in
                path.extension == "sqlite" && CopyFolderName(path.stemText) != nil && kind(of: path) == .file
            },
            safetyFolders: names.filter { $0.hasPrefix(".") && $0.hasSuffix(Self.safetyEnding) }
                .map { folder.appending(text: $0) }.filter { kind(of: $0) == .folder })
    }

    private func kind(of path: FilePath) -> FileStatus.Kind? { (try? PlatformCalls.status(of: path))?.kind }

    /// Where a restore keeps a store as it was, unless told otherwise: beside it, in `.<name without extension>-safety`.
    public static func besideStore(at path: FilePath) -> KeptCopies {
        KeptCopies(in: path.removingLastComponent().appending(text: ".\(path.stemText)\(safetyEnding)"))
    }

    private static let safetyEnding = "-safety"

    /// Keeps a compact copy, durably: either all of it is there afterwards, or nothing. A file that an older copy of the same
    /// store has, too, becomes a hard link to it.
    ///
    /// - Parameters:
    ///   - store: On the same file system as the folder, it is not copied, but gets a second name here, and must not be
    ///     written to any more.
    ///   - files: In the order of the manifest.
    ///   - original: Where the store is, for the copy to remember.
    ///   - damage: What SQLite's check of it complained of first; `nil` for a sound copy.
    ///   - attributes: Of the store, whose users are to have the use of the copy; `nil` for this user alone.
    ///   - busyHandler: How long to wait while other commands add or remove copies.
    /// - Throws: `.badMetadata`, `.folderBusy`, `.stopped`, `.file`.
    package func keep(
        _ manifest: Manifest, store: FilePath, files: [(file: ExternalFile, path: FilePath)], of original: FilePath,
        damage: ForeignText? = nil, for attributes: FileAttributes? = nil, _ busyHandler: BusyHandler
    ) throws(OperationError) -> KeptCopy {
        if let flaw = Manifest.firstFlaw(ofMetadata: manifest.metadata) { throw .badMetadata(flaw) }
        let held = heldParts(of: manifest)
        let staging = try OperationError.wrapping { () throws(FileError) in
            try TemporaryFolder(making: folder, with: attributes?.ofFolder)
        }
        let staged = staging.path.appending("copy")
        try OperationError.wrapping { () throws(FileError) in
            try Self.fill(staged, manifest, store: store, files: files, held: held, attributes)
        }
        // Under the lock no two copies get one number, and each gets a higher one than those that are there.
        return try FolderLock.holding(folder, busyHandler) { () throws(OperationError) in
            let record = CopyRecord(number: highestNumber + 1, store: original, damage: damage)
            let path = try OperationError.wrapping { () throws(FileError) in
                try record.write(in: staged, attributes?.ofKeptFile)
                try Folder.sync(staged)
                return try place(staged, manifest)
            }
            return KeptCopy(Generation(number: 0, path: path, manifest: manifest), record)
        }
    }

    /// Fills the folder of a copy, out of sight: puts everything in but the record, read-only, and syncs it. The folder itself is
    /// synced with the record, which goes in last.
    ///
    /// - Parameter held: Files of other kept copies, to which nothing writes.
    private static func fill(
        _ path: FilePath, _ manifest: Manifest, store: FilePath, files: [(file: ExternalFile, path: FilePath)],
        held: [Manifest.Part: FilePath], _ attributes: FileAttributes?
    ) throws(FileError) {
        let (ofFolder, ofFile) = (attributes?.ofFolder, attributes?.ofKeptFile)
        try PlatformCalls.makeFolder(path)
        let support = path.appending(InboxLayout.supportFolder(manifest.name))
        let folders = Set(manifest.externalFiles.map(\.name.folder)).map { support.appending($0.rawValue) }
        for folder in folders { try Folder.make(folder, with: ofFolder) }
        for (index, part) in manifest.parts.enumerated() {
            let target = path.appending(Generation.relativePath(ofPart: index, of: manifest).components)
            if let sibling = held[part], link(sibling, as: target, part, ofFile) { continue }
            if index == 0 {
                try OpenFile.linkOrCopy(store, to: target, mode: .ownerRead, attributes: ofFile)
            } else {
                // External files may be the live store's own: these are never shared with a copy.
                try OpenFile.copy(files[index - 1].path, to: target, mode: .ownerRead, attributes: ofFile)
            }
        }
        let manifestPath = path.appending(InboxLayout.manifestFile)
        try OpenFile.write(manifest.jsonBytes, to: manifestPath, mode: .ownerRead, attributes: ofFile)
        // Last, as whoever it belongs to then may change what is in it.
        try ofFolder?.give(to: path)
        for folder in folders { try Folder.sync(folder) }
        if !folders.isEmpty { try Folder.sync(support) }
    }

    /// - Parameters:
    ///   - part: The bytes that the sibling has, unless it has been damaged since.
    ///   - attributes: Without them a sibling is of no use to those that they are for.
    private static func link(
        _ sibling: FilePath, as target: FilePath, _ part: Manifest.Part, _ attributes: FileAttributes?
    ) -> Bool {
        guard let status = try? PlatformCalls.status(of: sibling), status.kind == .file, status.size == part.size,
            attributes == nil || attributes?.serves(as: status) == true,
            (try? ContentDigest(ofFile: sibling)) == part.sha256
        else { return false }
        return (try? PlatformCalls.hardLink(sibling, as: target)) != nil
    }

    /// Of the copies in the folder; 0 if there are none. Those whose record cannot be read count as the newest.
    private var highestNumber: Int {
        let numbers = copyNames.map { record(of: $0)?.number }
        return (numbers.compactMap(\.self).max() ?? 0) + numbers.count { $0 == nil }
    }

    private var copyNames: [CopyFolderName] {
        ((try? Folder.names(in: folder)) ?? []).compactMap { CopyFolderName($0) }
    }

    private func record(of name: CopyFolderName) -> CopyRecord? {
        guard let copy = try? OpenFolder(following: folder.appending(name.text)) else { return nil }
        return try? CopyRecord.read(in: copy)
    }

    /// Moves a whole copy to the first name that is free.
    private func place(_ staged: FilePath, _ manifest: Manifest) throws(FileError) -> FilePath {
        var ordinal = 1
        while true {
            let name = CopyFolderName(manifest.name, at: manifest.createdAt, ordinal: ordinal)
            let path = folder.appending(name.text)
            do throws(FileError) {
                // Anything that has the name, even an empty folder, is not ours to replace.
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

    /// The parts that the newest copies of the same store have.
    private func heldParts(of manifest: Manifest) -> [Manifest.Part: FilePath] {
        let names = copyNames.filter { $0.store == manifest.name }
            .compactMap { name in record(of: name).map { (number: $0.number, name: name) } }
            .sorted { $0.number < $1.number }
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
