package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// An external file, and where its bytes can be had.
package struct FileAtHand: Hashable, Sendable {
    package let file: ExternalFile
    package let path: FilePath

    package init(_ file: ExternalFile, at path: FilePath) {
        self.file = file
        self.path = path
    }
}

/// The folder of a store's external files, on its way from one state of the store to the next: what the new state needs
/// is there before it, and what only the old one needed stays until after it, so that no reference is ever dangling.
package struct SupportFolder: Hashable, Sendable {
    package let path: FilePath

    package func path(of name: ExternalFileName) -> FilePath {
        path.appending(FilePath(name.relativePath).components)
    }

    /// The external files that are there, of whatever state. Names that are no UUIDs are not ours to judge.
    package func names() -> Set<ExternalFileName> {
        var names: Set<ExternalFileName> = []
        for folder in ExternalFileName.Folder.allCases {
            for name in (try? Folder.names(in: path.appending(folder.rawValue))) ?? [] {
                if let name = ExternalFileName(folder: folder, uuid: name) { names.insert(name) }
            }
        }
        return names
    }

    /// What a look at the folder finds of the files that a state needs.
    package struct Comparison: Sendable {
        package let missing: [FileAtHand]
        /// Of that name, and with other bytes. Core Data never writes to such a file again: one of the two is damaged.
        package let different: [FileAtHand]
    }

    package func compare(with files: [FileAtHand]) throws(FileError) -> Comparison {
        var missing: [FileAtHand] = []
        var different: [FileAtHand] = []
        for offered in files {
            let path = path(of: offered.file.name)
            guard let status = try? PlatformCalls.status(of: path) else {
                missing.append(offered)
                continue
            }
            guard status.kind == .file, status.size == offered.file.size else {
                different.append(offered)
                continue
            }
            if try FileDigest.sha256(of: path) != offered.file.sha256 { different.append(offered) }
        }
        return Comparison(missing: missing, different: different)
    }

    /// Puts copies of the files in, each in one step, and in the place of whatever has its name; all are on the medium
    /// when this returns. The files at hand stay others' own: nothing that is written to one reaches the other.
    ///
    /// - Parameter mode: Of the copies: that of the store, whose readers need them.
    /// - Throws: What was put in before stays: it is for the caller to remove.
    package func put(_ files: [FileAtHand], mode: FilePermissions) throws(FileError) {
        guard !files.isEmpty else { return }
        let parent = path.removingLastComponent()
        let staging = try TemporaryFolder(in: parent.isEmpty ? "." : parent, .besideResults)
        let folders = Set(files.map(\.file.name.folder))
        for folder in folders { try Folder.make(path.appending(folder.rawValue)) }
        for (index, offered) in files.enumerated() {
            let staged = staging.path.appending("\(index)")
            try DurableCopy.make(of: offered.path, at: staged, mode: mode)
            try PlatformCalls.rename(staged, to: path(of: offered.file.name))
        }
        for folder in folders { try Folder.sync(path.appending(folder.rawValue)) }
    }

    /// Removes files that no state needs any more. What cannot be removed is left: it is in nobody's way.
    ///
    /// - Returns: Those that are gone.
    @discardableResult
    package func remove(_ names: some Sequence<ExternalFileName>) -> [ExternalFileName] {
        let removed = names.filter { (try? PlatformCalls.removeFile(path(of: $0))) != nil }
        for folder in Set(removed.map(\.folder)) { try? Folder.sync(path.appending(folder.rawValue)) }
        return removed
    }
}
