package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// The folder of a store's external files, on its way from one state of the store to the next: what the new state needs
/// is there before it, and what only the old one needed stays until after it, so that no reference is ever dangling.
package struct SupportFolder: Hashable, Sendable {
    package let path: FilePath

    package func path(of name: ExternalFileName) -> FilePath {
        path.appending(FilePath(name.relativePath).components)
    }

    /// The external files that are there, of whatever state. Names that are no UUIDs are not ours to judge.
    package func names() throws(FileError) -> Set<ExternalFileName> { Set(try content().compactMap(Self.name(of:))) }

    /// All that is in the folder and is no folder itself, by its path in it, sorted. No symbolic link is followed, not even
    /// one in the place of the folder, and a folder that may not be read counts as a file.
    package func content() throws(FileError) -> [FilePath] {
        guard let folder = try open() else { return [] }
        return try Self.content(of: folder, below: "").sorted { $0.text < $1.text }
    }

    private static func content(
        of folder: borrowing OpenFolder, below place: FilePath
    ) throws(FileError) -> [FilePath] {
        var found: [FilePath] = []
        for name in try folder.components(in: folder.path) {
            let place = place.appending(name)
            if let inner = try unlessClosed({ () throws(FileError) in try folder.folder(name) }) {
                found += try content(of: inner, below: place)
            } else {
                found.append(place)
            }
        }
        return found
    }

    /// - Returns: `nil` where there is no folder that this user may read.
    private func open() throws(FileError) -> OpenFolder? {
        try Self.unlessClosed { () throws(FileError) in try OpenFolder(path) }
    }

    private static func unlessClosed(_ open: () throws(FileError) -> OpenFolder) throws(FileError) -> OpenFolder? {
        try FileError.unless(FileError.absence + [.permissionDenied, .tooManySymbolicLinkLevels], open)
    }

    /// The name by which a row may refer to the file at a path in the folder; `nil` if no row can.
    package static func name(of place: FilePath) -> ExternalFileName? {
        let names = place.components.map(\.text)
        guard names.count == 2, let folder = ExternalFileName.Folder(rawValue: names[0]) else { return nil }
        return ExternalFileName(folder: folder, uuid: names[1])
    }

    /// Looks for the files that a state of the store needs.
    ///
    /// - Parameter files: Each with the place where its bytes can be had.
    /// - Returns: Those that are missing, and those whose names files with other bytes have. Core Data never writes to an external
    ///   file again: one of the two is damaged.
    package func compare(with files: [(file: ExternalFile, path: FilePath)]) throws(FileError) -> (
        missing: [(file: ExternalFile, path: FilePath)], different: [(file: ExternalFile, path: FilePath)]
    ) {
        var missing: [(file: ExternalFile, path: FilePath)] = []
        var different: [(file: ExternalFile, path: FilePath)] = []
        for offered in files {
            let path = path(of: offered.file.name)
            guard let status = try PlatformCalls.statusIfThere(of: path) else {
                missing.append(offered)
                continue
            }
            guard status.kind == .file, status.size == offered.file.size else {
                different.append(offered)
                continue
            }
            if try ContentDigest(ofFile: path) != offered.file.sha256 { different.append(offered) }
        }
        return (missing, different)
    }

    /// A symbolic link may lead to another store's folder: nothing is put there.
    ///
    /// - Throws: `.linkedSupportFolder` if there is something to put.
    package func refuseIfLinked(toPut files: [(file: ExternalFile, path: FilePath)]) throws(OperationError) {
        if !files.isEmpty { try refuseIfLinked() }
    }

    func refuseIfLinked() throws(OperationError) {
        let folders = [path] + ExternalFileName.Folder.allCases.map { path.appending($0.rawValue) }
        for folder in folders {
            let status = try OperationError.wrapping { () throws(FileError) in
                try PlatformCalls.statusIfThere(of: folder)
            }
            if status?.kind == .symbolicLink { throw .linkedSupportFolder(folder) }
        }
    }

    /// Puts copies of the files in, each in one step, and in the place of whatever has its name; all are on the medium
    /// when this returns. The files at hand stay others' own: nothing that is written to one reaches the other.
    ///
    /// - Parameter attributes: Of the copies: those of the store, whose users need them; `nil` for this user alone.
    /// - Throws: What was put in before stays: it is for the caller to remove.
    package func put(_ files: [(file: ExternalFile, path: FilePath)], attributes: FileAttributes?) throws(FileError) {
        // What is there already may be of a process that was killed before its sync.
        guard !files.isEmpty else { return try sync() }
        let staging = try TemporaryFolder(in: Folder.parent(of: path), .besideResults)
        let folders = Set(files.map(\.file.name.folder))
        // The lock has made the folder before it was known for whom.
        if let status = try? PlatformCalls.status(of: path), status.owner == PlatformCalls.effectiveUser,
            try Folder.names(in: path).isEmpty
        {
            try attributes?.ofFolder.give(to: path)
        }
        for folder in folders { try Folder.make(path.appending(folder.rawValue), with: attributes?.ofFolder) }
        for (index, offered) in files.enumerated() {
            let staged = staging.path.appending("\(index)")
            try OpenFile.copy(offered.path, to: staged, attributes: attributes)
            try PlatformCalls.rename(staged, to: path(of: offered.file.name))
        }
        try sync()
    }

    /// Keeps files that are about to be replaced, by a second name, or as copies where that is not possible.
    ///
    /// - Parameter folder: Where to keep them: on the same file system, and not there yet.
    package func keep(_ files: [(file: ExternalFile, path: FilePath)], in folder: FilePath) throws(FileError) {
        guard !files.isEmpty else { return }
        try PlatformCalls.makeFolder(folder)
        for (index, offered) in files.enumerated() {
            let (path, kept) = (path(of: offered.file.name), folder.appending("\(index)"))
            let isLinked = try FileError.isDone(unless: Errno.ofNoHardLinks) { () throws(FileError) in
                try PlatformCalls.hardLink(path, as: kept)
            }
            if !isLinked { try OpenFile.copy(path, to: kept, attributes: try FileAttributes(of: path)) }
        }
    }

    /// Puts back what `keep` has kept, each in one step. What it has not kept has not been replaced.
    ///
    /// - Returns: Whether all are as they were, durably.
    package func putBack(_ files: [(file: ExternalFile, path: FilePath)], from folder: FilePath) -> Bool {
        guard !files.isEmpty else { return true }
        let isBack = files.indices.map { index in
            let kept = folder.appending("\(index)")
            guard (try? PlatformCalls.isThere(kept)) != false else { return true }
            return (try? PlatformCalls.rename(kept, to: path(of: files[index].file.name))) != nil
        }
        return !isBack.contains(false) && (try? sync()) != nil
    }

    /// Makes the names in it durable.
    func sync() throws(FileError) {
        guard let folder = try open() else { return }
        try sync(ExternalFileName.Folder.allCases, in: folder)
        try folder.sync(path)
    }

    /// What a symbolic link leads to is not ours.
    private func sync(_ names: some Sequence<ExternalFileName.Folder>, in folder: borrowing OpenFolder)
        throws(FileError)
    {
        for name in names {
            let path = path.appending(name.rawValue)
            if try folder.statusIfThere(of: path)?.kind == .folder { try folder.sync(path) }
        }
    }

    /// Removes files that no state needs any more. What cannot be removed is left: it does no harm. No symbolic link is followed.
    ///
    /// - Returns: Those that are gone.
    @discardableResult
    package func remove(_ names: some Sequence<ExternalFileName>) -> [ExternalFileName] {
        guard let folder = try? OpenFolder(path) else { return [] }
        let removed = names.filter { name in
            let path = path(of: name)
            return (try? folder.status(of: path))?.kind == .file && (try? folder.removeFile(path)) != nil
        }
        for subfolder in Set(removed.map(\.folder)) { try? folder.sync(path.appending(subfolder.rawValue)) }
        return removed
    }

    /// Removes files that go with their store. What is no regular file stays, and so does everything where a symbolic link
    /// stands in the place of the folder, or of one in it.
    ///
    /// - Throws: At the first that cannot be removed.
    package func removeForGood(_ names: Set<ExternalFileName>) throws(FileError) {
        guard !names.isEmpty, let folder = try open() else { return }
        for name in names.sorted() {
            let path = path(of: name)
            let status = try FileError.unless(FileError.absence + [.tooManySymbolicLinkLevels]) {
                () throws(FileError) in
                try folder.status(of: path)
            }
            if status?.kind == .file { try folder.removeFile(path) }
        }
        try sync(Set(names.map(\.folder)), in: folder)
    }

    /// Removes other files of the folder, by their paths in it, and the folders that are empty then.
    ///
    /// - Parameter folders: Which of these go, the innermost first; `nil` for all, itself included.
    package func removeForGood(_ places: [FilePath], with folders: [FilePath]? = nil) throws(FileError) {
        guard let folder = try open() else { return }
        for place in places { try folder.removeFile(path.appending(place.components)) }
        if folders == nil { try Self.removeEmptyFolders(in: folder) }
        for path in folders ?? [path] {
            try FileError.unless(Self.inUse) { () throws(FileError) in try PlatformCalls.removeEmptyFolder(path) }
        }
        try Folder.sync(Folder.parent(of: path))
    }

    private static func removeEmptyFolders(in folder: borrowing OpenFolder) throws(FileError) {
        for name in try folder.components(in: folder.path) {
            guard let inner = try unlessClosed({ () throws(FileError) in try folder.folder(name) }) else { continue }
            try removeEmptyFolders(in: inner)
            let path = folder.path.appending(name)
            try FileError.unless(inUse) { () throws(FileError) in try folder.removeEmptyFolder(at: path) }
        }
    }

    /// The reasons of rmdir(2) for a folder with something in it.
    private static let inUse: [Errno] = [.directoryNotEmpty, .fileExists]
}
