package import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

extension KeptCopies {
    /// The outcome for a copy that was to be removed.
    public enum Removal: String, Hashable, Sendable {
        case removed
        /// It has a reader: it goes at the next pruning.
        case held
        /// There is more in its folder than the copy, or it is no folder: it is unknown whose that is.
        case altered
        /// It would go.
        case superfluous
    }

    /// Removes the copies that have expired. Commands that add or remove copies take turns: no two prune by one listing.
    ///
    /// - Parameters:
    ///   - name: Of the stores that this is about; `nil` for all.
    ///   - dryRun: Whether everything stays.
    ///   - busyHandler: How long to wait while another command changes what is in the folder.
    /// - Returns: What was to go, the oldest of each store first, and what is in the folder now.
    /// - Throws: `.folderBusy`, `.stopped`, `.file`.
    package func prune(
        _ retention: CopyRetention, of name: StoreName?, dryRun: Bool, at now: Timestamp,
        _ busyHandler: BusyHandler
    ) throws(OperationError) -> (findings: [(copy: KeptCopy, removal: Removal)], left: Listing) {
        func expired() throws(OperationError) -> [KeptCopy] {
            retention.expired(of: try list().copies.filter { name == nil || $0.manifest.name == name }, at: now)
        }
        if dryRun { return (try expired().map { ($0, .superfluous) }, try list()) }
        let bin = try OperationError.wrapping { () throws(FileError) in
            _ = try Folder.names(in: folder)
            return try TemporaryFolder(in: folder, .besideResults)
        }
        let pruned = try FolderLock.holding(folder, busyHandler) { () throws(OperationError) in
            let findings = try expired().map { copy throws(OperationError) in
                (copy: copy, removal: try remove(copy, into: bin.path))
            }
            return (findings, try list())
        }
        try OperationError.wrapping { () throws(FileError) in try bin.remove() }
        return pruned
    }

    /// Removes copies, each in one step as others see it.
    ///
    /// - Returns: Those that stay, and why.
    /// - Throws: `.file` at the first that cannot be removed.
    @discardableResult
    public func remove(_ copies: [KeptCopy]) throws(OperationError) -> [(copy: KeptCopy, removal: Removal)] {
        guard !copies.isEmpty else { return [] }
        let bin = try OperationError.wrapping { () throws(FileError) in
            try TemporaryFolder(in: folder, .besideResults)
        }
        var staying: [(copy: KeptCopy, removal: Removal)] = []
        for copy in copies {
            let removal = try remove(copy, into: bin.path)
            if removal != .removed { staying.append((copy, removal)) }
        }
        try OperationError.wrapping { () throws(FileError) in try bin.remove() }
        return staying
    }

    /// Renames a copy out of sight, if it has no readers and its folder holds nothing else.
    private func remove(_ copy: KeptCopy, into bin: FilePath) throws(OperationError) -> Removal {
        do throws(FileError) {
            guard try PlatformCalls.status(of: copy.path).kind == .folder else { return .altered }
            guard let lock = try FolderLock.take(.exclusive, on: copy.path) else { return .held }
            defer { withExtendedLifetime(lock) {} }
            // A reader that waits for the lock finds another folder under that name, or none.
            guard try lock.file.status.identity == PlatformCalls.status(of: copy.path).identity else { return .held }
            guard try copy.isAlone() else { return .altered }
            try PlatformCalls.rename(copy.path, to: bin.appending(text: copy.path.lastName))
            return .removed
        } catch {
            // Another process was quicker.
            if error.errno == .noSuchFileOrDirectory { return .removed }
            throw .file(error)
        }
    }
}

extension KeptCopy {
    /// Whether nothing is in its folder but what was put there.
    fileprivate func isAlone() throws(FileError) -> Bool {
        let folder = try OpenFolder(path)
        var expected: Set<FilePath> = [path.appending(InboxLayout.manifestFile), path.appending(CopyRecord.file)]
        for index in manifest.parts.indices {
            // The part itself, and the folders that it is in.
            var part = self.generation.path(ofPart: index)
            while part != path, expected.insert(part).inserted { part.removeLastComponent() }
        }
        func isExpected(_ place: FilePath) throws(FileError) -> Bool {
            for name in try folder.names(in: place) {
                let found = place.appending(text: name)
                guard expected.contains(found) else { return false }
                if try folder.status(of: found).kind == .folder, try !isExpected(found) { return false }
            }
            return true
        }
        return try isExpected(path)
    }
}
