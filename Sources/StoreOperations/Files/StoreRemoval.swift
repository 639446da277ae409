import ShipProtocol
package import StoreFiles
package import SystemPackage

/// The removal of a store: one rename moves it out of sight, and it stays there until the external files that are its alone are
/// gone. So its own rows say what is left to do after a kill; without them nothing is removed.
///
///     FOLDER/.ship-store-removal-Recipes.sqlite/{Recipes.sqlite, moved-to}
package struct StoreRemoval: Sendable {
    private let home: StoreHome
    private let folder: FilePath

    private static let prefix = ".ship-store-removal-"
    /// A symbolic link to where the store has been moved before; without it, it is destroyed or replaced.
    private static let destination = "moved-to"

    package init(of home: StoreHome) {
        self.home = home
        folder = home.folder.appending(text: Self.prefix + home.name(leaving: Self.prefix.utf8.count))
    }

    private var aside: FilePath { folder.appending(text: home.path.lastName) }

    /// Whether the folder is one that this program has made: private, of this user, and no link.
    private var isOurs: Bool {
        get throws(FileError) { try PlatformCalls.statusIfThere(of: folder)?.isOwnFolder ?? false }
    }

    /// The store that a killed removal has left; `nil` if none is under way.
    package var store: FilePath? {
        get throws(FileError) {
            guard try isOurs, try PlatformCalls.statusIfThere(of: aside)?.kind == .file else { return nil }
            return aside
        }
    }

    /// Whether the store went because it had been moved there.
    package func followedMove(to target: StoreHome) throws(FileError) -> Bool {
        guard try store != nil else { return false }
        return (try? PlatformCalls.targetOfSymbolicLink(at: folder.appending(Self.destination))) == target.path
    }

    /// Moves the store out of sight. Its sidecars go first: beside another store of that name they would be taken for that one's own.
    ///
    /// - Parameter target: Where it has been moved to; `nil` if it has not.
    package func begin(after target: StoreHome? = nil) throws(FileError) {
        try prepare()
        if let target { try PlatformCalls.symbolicLink(at: folder.appending(Self.destination), to: target.path) }
        for path in home.sidecars where try PlatformCalls.isThere(path) {
            try PlatformCalls.removeFile(path)
        }
        try Folder.sync(home.folder)
        try PlatformCalls.rename(home.path, to: aside)
        try Folder.sync(folder)
        try Folder.sync(home.folder)
    }

    /// Gives the store a second name out of sight, before another one takes its place.
    package func beginReplacing() throws(FileError) {
        try prepare()
        try PlatformCalls.hardLink(home.path, as: aside)
        try Folder.sync(folder)
        try Folder.sync(home.folder)
    }

    /// Makes the folder, before anything changes. One that is in the way is of a removal that never began.
    package func prepare() throws(FileError) {
        if try isOurs, try store == nil { try? PlatformCalls.removeFile(folder.appending(Self.destination)) }
        do throws(FileError) {
            try PlatformCalls.makeFolder(folder)
        } catch {
            guard error.errno == .fileExists, try isOurs, try store == nil else { throw error }
        }
        // What the file system gives to another user would never be found again.
        guard try isOurs else {
            try? PlatformCalls.removeEmptyFolder(folder)
            throw FileError(.makeFolder, folder, .notPermitted)
        }
    }

    /// Takes back what `prepare` has made, unless the store has gone there. Who calls it keeps out others that may be about to move it, or
    /// has seen that there is none.
    package func cancel() {
        cancelReplacing()
        guard (try? isOurs) == true, (try? PlatformCalls.isThere(aside)) == false else { return }
        try? PlatformCalls.removeFile(folder.appending(Self.destination))
        try? PlatformCalls.removeEmptyFolder(folder)
    }

    /// Takes back the second name of a store that was not replaced.
    package func cancelReplacing() {
        guard (try? isOurs) == true, let store = try? PlatformCalls.status(of: home.path),
            (try? PlatformCalls.status(of: aside))?.identity == store.identity
        else { return }
        try? PlatformCalls.removeFile(aside)
    }

    /// Ends the removal: no file is left that the store's rows could explain. Everything goes in one step.
    ///
    /// - Parameter whenGone: Called once nothing of it is found any more.
    package func finish(whenGone: () -> Void) throws(FileError) {
        guard try isOurs else {
            guard (try? PlatformCalls.isThere(aside)) != true else { throw FileError(.remove, aside, .notPermitted) }
            return whenGone()
        }
        if try !PlatformCalls.isThere(home.path) { RestoreRecord.remove(for: home) }
        let own = [aside] + StoreHome(aside).sidecars + [folder.appending(Self.destination)]
        let names = try OpenFolder(folder).components(in: folder)
        guard Set(names).isSubset(of: own.compactMap(\.lastComponent)) else {
            // Something that was not put there by us stays.
            for path in own where try PlatformCalls.isThere(path) { try PlatformCalls.removeFile(path) }
            whenGone()
            return try Folder.sync(folder)
        }
        let bin = try TemporaryFolder(in: home.folder, .besideResults)
        // Another process may have finished it meanwhile.
        try FileError.unless([.noSuchFileOrDirectory]) { () throws(FileError) in
            try PlatformCalls.rename(folder, to: bin.path.appending("removed"))
        }
        whenGone()
        try bin.remove()
    }

    /// Sweeps what a removal left that was killed before it began, or after its end, durably: whoever finds that there is nothing left
    /// to do says so.
    package func sweep() throws(FileError) {
        TemporaryFolder.sweep(home.folder, .besideResults)
        if try !PlatformCalls.isThere(home.path) {
            cancel()
            RestoreRecord.remove(for: home)
        }
        try Folder.sync(home.folder)
    }
}
