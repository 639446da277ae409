import GRDB
import GRDBSQLite
package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Keeps what is left of a store that cannot be used any more, in a folder of its own, laid out as before: every tool can examine
/// it there, and nothing of it is lost.
///
///     FOLDER/Recipes.sqlite.damaged-20261121T080000/{Recipes.sqlite, Recipes.sqlite-wal, .Recipes_SUPPORT/...}
///
/// The store's own file and its external files get a second name there, so that processes that have them open keep them, and the
/// path of the store is never free for an app to make an empty one. A kill at any point leaves the store where it was, or with
/// both names; then the next one goes on.
package struct DamagedStore: Sendable {
    private let home: StoreHome
    /// Where it goes.
    package let folder: FilePath

    private static let infix = ".damaged-"

    /// - Parameter time: Of the folder's name, unless a killed run has begun one, with which this goes on.
    package init(of home: StoreHome, at time: Timestamp) {
        self.home = home
        // What a kill leaves between the making of a folder and the first thing in it. Other folders are left as they are.
        for folder in Self.folders(of: home) { try? PlatformCalls.removeEmptyFolder(folder) }
        folder = Self.begun(for: home) ?? Self.freeName(for: home, time)
    }

    private static func name(of home: StoreHome) -> String { home.path.lastName }
    private var kept: StoreHome { StoreHome(folder.appending(text: Self.name(of: home))) }

    private static func prefix(for home: StoreHome) -> String { home.name(leaving: 32) + infix }

    private static func folders(of home: StoreHome) -> [FilePath] {
        let prefix = prefix(for: home)
        return ((try? Folder.names(in: home.folder)) ?? []).filter { name in
            // What follows is as in the name of a kept copy.
            name.hasPrefix(prefix) && CopyFolderName("copy-" + name.dropFirst(prefix.count)) != nil
        }.map { home.folder.appending(text: $0) }
    }

    /// The folder in which the very file that is at the store's path has its second name already.
    package static func begun(for home: StoreHome) -> FilePath? {
        guard let status = try? PlatformCalls.status(of: home.path), status.kind == .file, status.links > 1 else {
            return nil
        }
        return folders(of: home).first { folder in
            (try? PlatformCalls.status(of: folder.appending(text: name(of: home))))?.identity == status.identity
        }
    }

    private static func freeName(for home: StoreHome, _ time: Timestamp) -> FilePath {
        let first = prefix(for: home) + time.compactText
        var ordinal = 1
        while true {
            let path = home.folder.appending(text: ordinal == 1 ? first : "\(first)-\(ordinal)")
            guard (try? PlatformCalls.isThere(path)) == true else { return path }
            ordinal += 1
        }
    }

    /// Gives the store and its external files their second names, or copies them where that is not possible. Nothing changes for
    /// their users yet.
    ///
    /// - Parameters:
    ///   - loses: Whether external files are about to be replaced by others of their names.
    ///   - copies: Gets each copy before it is made.
    /// - Returns: Whether there is anything to keep.
    package func prepare(losingFiles loses: Bool, noting copies: inout [Copy]) throws -> Bool {
        guard try loses || ([home.path] + home.sidecars).contains(where: PlatformCalls.isThere) else { return false }
        let attributes = try home.attributes
        try Folder.make(folder, with: attributes.ofFolder)
        if try PlatformCalls.isThere(home.path), try !PlatformCalls.isThere(kept.path) {
            let isLinked = try FileError.isDone(unless: Errno.ofNoHardLinks) { () throws(FileError) in
                try PlatformCalls.hardLink(home.path, as: kept.path)
            }
            if !isLinked {
                copies.append(try Copy(of: home.path, at: kept.path))
                try Self.copyBytes(of: home.path, to: kept.path, attributes)
            }
        }
        try Self.link(home.supportFolder, into: kept.supportFolder, attributes.ofFolder, noting: &copies)
        try Folder.sync(folder)
        try Folder.sync(home.folder)
        return true
    }

    /// A copy of a file that could get no second name.
    package struct Copy: Sendable {
        let path: FilePath
        private let original: FilePath
        fileprivate let identity: FileStatus.Identity

        init(of original: FilePath, at path: FilePath) throws(FileError) {
            (self.path, self.original) = (path, original)
            identity = try PlatformCalls.status(of: original).identity
        }

        /// Whether the file that it is of is where it was: then the copy is not all that there is of it.
        fileprivate var hasOriginal: Bool { (try? PlatformCalls.status(of: original))?.identity == identity }
    }

    /// Gives all external files of a folder second names in another, which change with nothing that happens to the first.
    private static func link(
        _ support: SupportFolder, into target: SupportFolder, _ attributes: FileAttributes, noting copies: inout [Copy]
    ) throws(FileError) {
        let names = try support.names()
        let folders = Set(names.map(\.folder)).map { target.path.appending($0.rawValue) }
        for folder in folders { try Folder.make(folder, with: attributes) }
        for name in names where try !PlatformCalls.isThere(target.path(of: name)) {
            guard (try? PlatformCalls.hardLink(support.path(of: name), as: target.path(of: name))) == nil else {
                continue
            }
            let source = support.path(of: name)
            copies.append(try Copy(of: source, at: target.path(of: name)))
            try OpenFile.copy(source, to: target.path(of: name), attributes: try FileAttributes(of: source))
        }
        for folder in folders { try Folder.sync(folder) }
    }

    /// Takes away what SQLite would take for a part of the store that comes. The log goes before its index.
    package func takeSidecars() throws(FileError) {
        for (path, target) in zip(home.sidecars, kept.sidecars) where try PlatformCalls.isThere(path) {
            var (free, ordinal) = (target, 2)
            // A file that an earlier run has taken is older, and stays.
            while try PlatformCalls.isThere(free) {
                free = FilePath(text: "\(target.text)-\(ordinal)")
                ordinal += 1
            }
            try PlatformCalls.rename(path, to: free)
        }
        guard try PlatformCalls.isThere(folder) else { return }
        try Folder.sync(folder)
        try Folder.sync(home.folder)
    }

    /// Whether the file at the store's path is the one that is kept, by what `prepare` has made.
    func isInPlace(_ copies: [Copy]) throws(FileError) -> Bool {
        guard let found = try PlatformCalls.statusIfThere(of: home.path)?.identity else { return false }
        return try PlatformCalls.statusIfThere(of: kept.path)?.identity == found
            || copies.contains { $0.path == kept.path && $0.identity == found }
    }

    /// Puts everything that `prepare` has made back as it was, unless another store is there by now.
    package func undo(_ copies: [Copy]) {
        // What cannot be looked at may be there.
        guard (try? isInPlace(copies)) == true || (try? PlatformCalls.isThere(home.path)) == false else { return }
        for (path, target) in zip(home.sidecars, kept.sidecars) where (try? PlatformCalls.isThere(path)) == false {
            try? PlatformCalls.rename(target, to: path)
        }
        for copy in copies where copy.hasOriginal { try? PlatformCalls.removeFile(copy.path) }
        // Only what has another name may go.
        let (support, keptSupport) = (home.supportFolder, kept.supportFolder)
        for name in (try? keptSupport.names()) ?? []
        where Self.areSame(support.path(of: name), keptSupport.path(of: name)) {
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

    /// Removes a file that is no store, and what SQLite would take for its sidecars, once no other connection uses it. The file
    /// goes last, so that a killed removal can be done again.
    ///
    /// - Parameter seen: The file that was found to be none.
    /// - Returns: `false` if another one stands in its place, or it has changed since: then nothing is removed.
    /// - Throws: `.storeIsSidecar`, `.inUse`, `.file`.
    package static func remove(
        _ home: StoreHome, asSeen seen: FileStatus, _ busyHandler: BusyHandler
    ) throws(OperationError) -> Bool {
        try home.refuseStrangeSidecars()
        let quiet = try QuietStore(home.path, besideReaders: false, busyHandler)
        let isRemoved = try OperationError.wrapping { () throws(FileError) in
            let status = try PlatformCalls.status(of: home.path)
            guard status.identity == seen.identity, status.size == seen.size, status.modified == seen.modified else {
                return false
            }
            for path in home.sidecars + [home.path] where try PlatformCalls.isThere(path) {
                try PlatformCalls.removeFile(path)
            }
            try Folder.sync(home.folder)
            return true
        }
        _ = consume quiet
        return isRemoved
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
    package func keepCopy(through connection: LiveConnection, in staging: FilePath) throws(OperationError) {
        let staged = StoreHome(staging.appending("damaged").appending(text: Self.name(of: home)))
        do {
            let attributes = try home.attributes
            try Folder.make(staged.folder, with: attributes.ofFolder)
            try Self.copyBytes(of: home.path, to: staged.path, attributes)
            if try PlatformCalls.isThere(home.log) {
                try OpenFile.copy(home.log, to: staged.log, attributes: attributes)
            }
            var copies: [Copy] = []
            try Self.link(home.supportFolder, into: staged.supportFolder, attributes.ofFolder, noting: &copies)
            try Folder.sync(staged.folder)
            try PlatformCalls.renameFolder(staged.folder, toFree: folder)
            try Folder.sync(home.folder)
        } catch {
            throw OperationError(error, on: home.path, connection.busyHandler)
        }
    }

    /// Bytes copied at a time.
    private static let pieceSize = 1024 * 1024

    /// Copies the bytes of a store that others may have open, whatever is in them: reads through SQLite's own handle, because
    /// closing another one would drop the locks of this process's connections [sqlite.org/howtocorrupt.html section 2.2].
    ///
    /// - Parameter store: To be kept from others' writing meanwhile.
    /// - Throws: `DatabaseError`, `FileError`.
    private static func copyBytes(of store: FilePath, to target: FilePath, _ attributes: FileAttributes) throws {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        var file: UnsafeMutablePointer<sqlite3_file>?
        var code = store.withPlatformString {
            sqlite3_open_v2($0, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX, nil)
        }
        if code == SQLITE_OK { code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) }
        guard code == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code == SQLITE_OK ? SQLITE_MISUSE : code))
        }
        let output = try OpenFile.creating(target)
        let size = try PlatformCalls.status(of: store).size
        var offset: Int64 = 0
        while offset < size {
            if Task.isCancelled { throw FileError(.write, target, .canceled) }
            var piece = [UInt8](repeating: 0, count: Int(min(Int64(pieceSize), size - offset)))
            code = read(file, &piece, CInt(piece.count), offset)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            try output.write(piece)
            offset += Int64(piece.count)
        }
        try attributes.give(to: output)
        try output.sync()
    }
}
