package import ShipProtocol
import StoreFiles
package import SystemPackage

/// Puts a store where one was lost, or where one is that SQLite cannot open: durably, verified, and in one step for whoever
/// opens the path. What was there is kept as a `DamagedStore`.
package struct StoreReplacement: Sendable {
    private let home: StoreHome
    private let damaged: DamagedStore
    private let placement: StorePlacement
    private let mode: FilePermissions
    private let patience: Patience

    /// - Parameter mode: Of the store and of its external files.
    package init(
        at home: StoreHome, keeping damaged: DamagedStore, _ journal: StorePlacement.Journal, mode: FilePermissions,
        _ patience: Patience
    ) {
        self.home = home
        self.damaged = damaged
        self.mode = mode
        self.patience = patience
        placement = StorePlacement(at: home, over: .nobody, journal, mode: mode)
    }

    /// - Parameters:
    ///   - store: It stays as it is.
    ///   - files: In the order of the manifest.
    ///   - claims: What other stores of the same stem refer to: of that nothing is replaced.
    /// - Returns: Where what was there is kept; `nil` if nothing was.
    /// - Throws: `.occupied`, `.sharedSupportFolder`, `.linkedSupportFolder`, `.storeIsSidecar`, `.notVerified`, `.busy`,
    ///   `.noSpace`, `.file`; what was there is as it was.
    package func put(
        _ manifest: Manifest, store: FilePath, files: [FileAtHand], beside claims: SupportFolderClaims
    ) throws(OperationError) -> FilePath? {
        try home.refuseStoresAsSidecars()
        let support = home.supportFolder
        let comparison = try OperationError.wrapping { () throws(FileError) in try support.compare(with: files) }
        try claims.refuse(toReplace: comparison.different, in: support)
        try support.refuseIfLinked(toPut: comparison.missing + comparison.different)
        let staging = try OperationError.wrapping { () throws(FileError) in
            try TemporaryFolder(in: home.folder, .besideResults)
        }
        let copy = staging.path.appending("copy.sqlite")
        try OperationError.wrapping { () throws(FileError) in try DurableCopy.make(of: store, at: copy) }
        let staged = staging.path.appending("store.sqlite")
        try placement.stage(copy, as: staged, manifest.store)
        let isKept: Bool
        do {
            isKept = try damaged.prepare(losingFiles: !comparison.different.isEmpty)
            try support.put(comparison.missing + comparison.different, mode: mode)
            let after = try support.compare(with: files)
            guard after.missing.isEmpty, after.different.isEmpty else { throw FileError(.read, support.path, .ioError) }
            try install(staged)
        } catch {
            damaged.undo()
            support.remove(comparison.missing.map(\.file.name))
            let error = OperationError(error, on: home.path, patience)
            if case .file(let file) = error, file.errno == .fileExists { throw .occupied(file.path) }
            throw error
        }
        // It is there; whether it stays after a power cut, the system does not say if this fails.
        try OperationError.wrapping { () throws(FileError) in try Folder.sync(home.folder) }
        return isKept ? damaged.folder : nil
    }

    private func install(_ staged: FilePath) throws {
        guard (try? PlatformCalls.status(of: home.path)) != nil else {
            try damaged.takeSidecars()
            // A second name is never made over something else, as a rename is.
            return try PlatformCalls.hardLink(staged, as: home.path)
        }
        // From here on nobody opens the old file who does not have it open.
        let quiet = try QuietStore(home.path, .noWriters, patience)
        try damaged.takeSidecars()
        try PlatformCalls.rename(staged, to: home.path)
        _ = consume quiet
    }
}

/// A copy of a file that has reached the medium, if the task was not cancelled before.
enum DurableCopy {
    /// Bytes copied at a time.
    private static let pieceSize = 1024 * 1024

    /// - Parameter mode: Of the copy; `nil` for its owner to read and write.
    static func make(
        of source: FilePath, at target: FilePath, mode: FilePermissions? = nil
    ) throws(FileError) {
        let input = try OpenFile.readingWithoutFollowing(source)
        let output = try OpenFile.creating(target)
        var offset: Int64 = 0
        while true {
            if Task.isCancelled { throw FileError(.write, target, .canceled) }
            let piece = try input.read(pieceSize, at: offset)
            guard !piece.isEmpty else { break }
            try output.write(piece)
            offset += Int64(piece.count)
        }
        if let mode { try PlatformCalls.changeMode(of: target, to: mode) }
        try output.sync()
    }

    /// A second name for a file that its owner gives away, or a copy of it where that is not possible.
    static func take(_ source: FilePath, as target: FilePath, mode: FilePermissions) throws(FileError) {
        guard (try? PlatformCalls.hardLink(source, as: target)) != nil else {
            return try make(of: source, at: target, mode: mode)
        }
        try PlatformCalls.changeMode(of: target, to: mode)
        try OpenFile.readingWithoutFollowing(target).sync()
    }
}
