import ShipProtocol
package import SystemPackage

/// A copy in a temporary folder, from where its external files get to their place before the store that refers to them does. Whoever
/// sweeps the folder of one that was killed in between takes them back.
///
///     TEMPORARY/store      the store
///     TEMPORARY/support    the folder of its external files
///     TEMPORARY/placing    the mark, a symbolic link to IDENTITY/NAME/STORE: of that folder, its name there, and the store's
package enum StagedCopy {
    package static let store = "store"
    package static let support = "support"
    private static let mark = "placing"

    /// Notes where both go, before the first does.
    package static func note(_ support: FilePath, before store: FilePath, in temporary: FilePath) throws(FileError) {
        let mark = temporary.appending(Self.mark)
        try? PlatformCalls.removeFile(mark)
        let folder = try PlatformCalls.status(of: temporary.appending(Self.support))
        // Where there are no symbolic links, what a kill leaves stays.
        let name = FilePath(identity(of: folder)).appending(text: support.lastName)
        try? PlatformCalls.symbolicLink(at: mark, to: name.appending(text: store.lastName))
        try Folder.sync(temporary)
    }

    /// A folder that is made later may get its inode, but not the time of its content, which a rename leaves as it is.
    private static func identity(of folder: FileStatus) -> String {
        let (seconds, attoseconds) = folder.modified.components
        return "\(folder.inode)-\(seconds)-\(attoseconds)"
    }

    /// Takes back the external files of a copy that was killed before its store was there. Another folder of their name stays.
    ///
    /// - Returns: `false` while another command is at work on them.
    static func takeBack(to temporary: FilePath) -> Bool {
        // A store that has been put in its place has a second name.
        let folder = temporary.removingLastComponent()
        guard let target = try? PlatformCalls.targetOfSymbolicLink(at: temporary.appending(mark)),
            let identity = target.components.first?.text, target.components.count == 3,
            let staged = try? PlatformCalls.status(of: temporary.appending(store)), staged.links == 1,
            case let place = folder.appending(target.components.dropFirst().prefix(1)),
            let status = try? PlatformCalls.status(of: place), status.isOwnFolder, identity == Self.identity(of: status)
        else { return true }
        let lock: FolderLock? = try? FolderLock.take(.exclusive, on: place)
        // One that is there refers to the files, wherever it is from; whoever had the lock may just have put it there.
        guard (try? PlatformCalls.isThere(folder.appending(target.components.suffix(1)))) == false else { return true }
        guard let lock else { return false }
        try? PlatformCalls.rename(place, to: temporary.appending(support))
        withExtendedLifetime(lock) {}
        return true
    }
}
