package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// What is left of a store that cannot be used any more, on its way into a folder of its own, in which it lies as it lay
/// before: it can be looked at there with every tool, and nothing of it is lost.
///
///     FOLDER/Recipes.sqlite.damaged-20261121T080000/{Recipes.sqlite, Recipes.sqlite-wal, .Recipes_SUPPORT/...}
///
/// The store's own file and its external files get a second name there, so that nobody who has them open loses them, and
/// the path of the store is never free for an app to make an empty one. A kill at any point leaves the store where it was, or
/// with both names; then the next one goes on.
package struct DamagedStore: Sendable {
    private let home: StoreHome
    /// Where it goes.
    package let folder: FilePath

    private static let infix = ".damaged-"

    /// - Parameter time: Of the folder's name, unless a killed run has begun one, with which this goes on.
    package init(of home: StoreHome, at time: Timestamp) {
        self.home = home
        Self.removeEmptyFolders(of: home)
        folder = Self.begun(for: home) ?? Self.freeName(for: home, time)
    }

    private static func name(of home: StoreHome) -> String { home.path.lastComponent?.string ?? "store" }
    private var kept: StoreHome { StoreHome(folder.appending(Self.name(of: home))) }

    private static func folders(of home: StoreHome) -> [FilePath] {
        let prefix = name(of: home) + infix
        return ((try? Folder.names(in: home.folder)) ?? []).filter { name in
            // What follows is as in the name of a kept copy.
            name.hasPrefix(prefix) && CopyFolderName("copy-" + name.dropFirst(prefix.count)) != nil
        }.map(home.folder.appending)
    }

    /// The folder in which the very file that is at the store's path has its second name already.
    package static func begun(for home: StoreHome) -> FilePath? {
        guard let status = try? PlatformCalls.status(of: home.path), status.kind == .file, status.links > 1 else {
            return nil
        }
        return folders(of: home).first { folder in
            (try? PlatformCalls.status(of: folder.appending(name(of: home))))?.identity == status.identity
        }
    }

    /// A kill between the making of a folder and the first thing in it leaves such a one; in others nothing is removed.
    private static func removeEmptyFolders(of home: StoreHome) {
        for folder in folders(of: home) { try? PlatformCalls.removeEmptyFolder(folder) }
    }

    private static func freeName(for home: StoreHome, _ time: Timestamp) -> FilePath {
        let first = name(of: home) + infix + time.compactText
        var ordinal = 1
        while true {
            let path = home.folder.appending(ordinal == 1 ? first : "\(first)-\(ordinal)")
            guard exists(path) else { return path }
            ordinal += 1
        }
    }

    private static func exists(_ path: FilePath) -> Bool { (try? PlatformCalls.status(of: path)) != nil }

    /// Gives the store and its external files their second names. Nothing changes for anybody yet.
    ///
    /// - Parameter loses: Whether external files are about to be replaced by others of their names.
    /// - Returns: Whether there is anything to keep.
    package func prepare(losingFiles loses: Bool) throws(FileError) -> Bool {
        guard loses || ([home.path] + home.sidecars).contains(where: Self.exists) else { return false }
        try Folder.make(folder)
        if Self.exists(home.path), !Self.exists(kept.path) { try PlatformCalls.hardLink(home.path, as: kept.path) }
        try Self.link(home.supportFolder, into: kept.supportFolder)
        try Folder.sync(folder)
        try Folder.sync(home.folder)
        return true
    }

    /// Gives all external files of a folder second names in another, which change with nothing that happens to the first.
    private static func link(_ support: SupportFolder, into target: SupportFolder) throws(FileError) {
        let names = support.names()
        let folders = Set(names.map(\.folder)).map { target.path.appending($0.rawValue) }
        for folder in folders { try Folder.make(folder) }
        for name in names where !exists(target.path(of: name)) {
            guard (try? PlatformCalls.hardLink(support.path(of: name), as: target.path(of: name))) == nil else {
                continue
            }
            try DurableCopy.make(of: support.path(of: name), at: target.path(of: name))
        }
        for folder in folders { try Folder.sync(folder) }
    }

    /// Takes away what SQLite would take for a part of the store that comes. The log goes before its index.
    package func takeSidecars() throws(FileError) {
        for (path, target) in zip(home.sidecars, kept.sidecars) where Self.exists(path) {
            var (free, ordinal) = (target, 2)
            // What an earlier run has taken is older, and stays.
            while Self.exists(free) {
                free = FilePath("\(target)-\(ordinal)")
                ordinal += 1
            }
            try PlatformCalls.rename(path, to: free)
        }
        guard Self.exists(folder) else { return }
        try Folder.sync(folder)
        try Folder.sync(home.folder)
    }

    /// Puts everything back as it was, unless another store is there by now.
    package func undo() {
        guard !Self.exists(home.path) || Self.begun(for: home) == folder else { return }
        for (path, target) in zip(home.sidecars, kept.sidecars) where Self.exists(target) && !Self.exists(path) {
            try? PlatformCalls.rename(target, to: path)
        }
        // Only what has another name may go.
        let (support, keptSupport) = (home.supportFolder, kept.supportFolder)
        for name in keptSupport.names() where Self.areSame(support.path(of: name), keptSupport.path(of: name)) {
            try? PlatformCalls.removeFile(keptSupport.path(of: name))
        }
        if Self.areSame(home.path, kept.path) { try? PlatformCalls.removeFile(kept.path) }
        for subfolder in ExternalFileName.Folder.allCases {
            try? PlatformCalls.removeEmptyFolder(keptSupport.path.appending(subfolder.rawValue))
        }
        try? PlatformCalls.removeEmptyFolder(keptSupport.path)
        try? PlatformCalls.removeEmptyFolder(folder)
        try? Folder.sync(home.folder)
    }

    /// Removes a file that is no store, and what SQLite would take for its sidecars, once nobody has it open. The file goes
    /// last, so that a killed removal can be done again.
    ///
    /// - Throws: `.storeIsSidecar`, `.inUse`, `.file`.
    package static func remove(_ home: StoreHome, _ patience: Patience) throws(OperationError) {
        try home.refuseStoresAsSidecars()
        let quiet = try QuietStore(home.path, .nobody, patience)
        try OperationError.wrapping { () throws(FileError) in
            for path in home.sidecars + [home.path] where exists(path) { try PlatformCalls.removeFile(path) }
            try Folder.sync(home.folder)
        }
        _ = consume quiet
    }

    private static func areSame(_ one: FilePath, _ other: FilePath) -> Bool {
        guard let one = try? PlatformCalls.status(of: one).identity else { return false }
        return (try? PlatformCalls.status(of: other))?.identity == one
    }

    /// Keeps a copy of a store that is to be written over, as it is: of bytes that SQLite makes no sense of, no other copy
    /// can be made. The store is open in `connection`, which keeps others from writing to it.
    ///
    /// - Parameter staging: A folder on the same file system, in which the copy is made.
    /// - Throws: `.noSpace`, `.file`, `.sqlite`; nothing is left then.
    package func keepCopy(
        through connection: LiveConnection, in staging: FilePath
    ) throws(OperationError) {
        let staged = StoreHome(staging.appending("damaged").appending(Self.name(of: home)))
        do {
            try Folder.make(staged.folder)
            try RawCopy.make(of: home.path, at: staged.path)
            if Self.exists(home.log) { try DurableCopy.make(of: home.log, at: staged.log) }
            try Self.link(home.supportFolder, into: staged.supportFolder)
            try Folder.sync(staged.folder)
            try PlatformCalls.renameFolder(staged.folder, toFree: folder)
            try Folder.sync(home.folder)
        } catch {
            throw OperationError(error, on: home.path, connection.patience)
        }
    }

    /// The store was not written over after all: what `keepCopy` has made goes.
    package static func dropCopy(at folder: FilePath) { try? Folder.removeTree(at: folder) }
}
