package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Puts a compact copy and its external files into a folder, durably, under a name that nothing has there: either all of it
/// is there afterwards, or nothing.
package struct CopyPlacement: Sendable {
    private let folder: FilePath
    private let name: String

    /// - Parameters:
    ///   - folder: Made if it is not there.
    ///   - name: As in `PathText`, without extension; the copy becomes `<name>.sqlite`, its support folder `.<name>_SUPPORT`. Where one of
    ///     the two is taken it is `<name>-2`, and so on.
    package init(in folder: FilePath, name: String) {
        self.folder = folder
        self.name = name
    }

    /// Whether anything has one of the names that a copy needs. External files without a store are not ours either.
    private func isTaken(_ home: StoreHome) -> Bool {
        [home.path, home.supportFolder.path].contains { (try? PlatformCalls.status(of: $0)) != nil }
    }

    /// - Returns: Where the copy is.
    package func place(
        store: FilePath, externalFiles: [(name: ExternalFileName, path: FilePath)]
    ) throws(FileError) -> FilePath {
        let temporary = try TemporaryFolder(making: folder)
        let staging = temporary.path
        let stagedStore = staging.appending(StagedCopy.store)
        try OpenFile.copy(store, to: stagedStore)
        let stagedSupport = externalFiles.isEmpty ? nil : staging.appending(StagedCopy.support)
        if let stagedSupport {
            let subfolders = Set(externalFiles.map(\.name.folder)).map { stagedSupport.appending($0.rawValue) }
            for subfolder in subfolders { try Folder.make(subfolder) }
            for file in externalFiles {
                try OpenFile.copy(file.path, to: stagedSupport.appending(FilePath(file.name.relativePath).components))
            }
            for subfolder in subfolders { try Folder.sync(subfolder) }
            try Folder.sync(stagedSupport)
        }
        // Another command that finds the files waits until the store is there that refers to them (`SupportFolderLock`). A lock
        // stays with its folder when that is renamed. On a file system without locks nothing waits.
        let lock: FolderLock? =
            if let stagedSupport { try? FolderLock.take(.exclusive, on: stagedSupport) } else { nil }
        defer { withExtendedLifetime(lock) {} }
        var ordinal = 1
        while true {
            let home = StoreHome(folder.appending(text: (ordinal == 1 ? name : "\(name)-\(ordinal)") + ".sqlite"))
            if !isTaken(home), try install(stagedStore, stagedSupport, at: home) { return home.path }
            ordinal += 1
        }
    }

    /// The files come before the store that refers to them.
    ///
    /// - Returns: `false` if another process was quicker to take one of the names.
    private func install(
        _ stagedStore: FilePath, _ stagedSupport: FilePath?, at home: StoreHome
    ) throws(FileError) -> Bool {
        if let stagedSupport {
            try StagedCopy.note(home.supportFolder.path, before: home.path, in: stagedStore.removingLastComponent())
            let isOurs = try FileError.isDone(unless: [.fileExists]) { () throws(FileError) in
                try PlatformCalls.renameFolder(stagedSupport, toFree: home.supportFolder.path)
            }
            guard isOurs else { return false }
            do throws(FileError) {
                try Folder.sync(folder)
            } catch {
                takeBack(stagedSupport, from: home)
                throw error
            }
        }
        do throws(FileError) {
            let isOurs = try FileError.isDone(unless: [.fileExists]) { () throws(FileError) in
                try PlatformCalls.place(stagedStore, atFree: home.path)
            }
            if isOurs {
                try Folder.sync(folder)
                // From here on nothing is to be taken back, whatever becomes of the store.
                try? PlatformCalls.removeFile(stagedStore)
                return true
            }
        } catch {
            if error.operation == .sync { try? PlatformCalls.removeFile(home.path) }
            takeBack(stagedSupport, from: home)
            throw error
        }
        takeBack(stagedSupport, from: home)
        return false
    }

    private func takeBack(_ stagedSupport: FilePath?, from home: StoreHome) {
        if let stagedSupport { try? PlatformCalls.rename(home.supportFolder.path, to: stagedSupport) }
    }
}
