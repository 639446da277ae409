package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Puts a compact copy and its external files into a folder, durably, under a name of its own: either all of it is there
/// afterwards, or nothing.
package struct CopyPlacement: Sendable {
    private let folder: FilePath
    private let name: String

    /// - Parameters:
    ///   - folder: Made if it is not there.
    ///   - name: Without extension; the copy becomes `<name>.sqlite`, its support folder `.<name>_SUPPORT`.
    package init(in folder: FilePath, name: String) {
        self.folder = folder
        self.name = name
    }

    /// The copy's final path.
    package var storePath: FilePath { folder.appending(name + ".sqlite") }
    private var supportPath: FilePath { folder.appending(".\(name)_SUPPORT") }

    /// - Throws: `FileError`; `.fileExists` if there is such a copy already.
    package func place(
        store: FilePath, externalFiles: [(name: ExternalFileName, path: FilePath)]
    ) throws(FileError) {
        try Folder.make(folder)
        for path in [storePath, supportPath] where (try? PlatformCalls.status(of: path)) != nil {
            throw FileError(.open, path, .fileExists)
        }
        let temporary = try TemporaryFolder(in: folder, .besideResults)
        let staging = temporary.path
        let stagedStore = staging.appending("store")
        try DurableCopy.make(of: store, at: stagedStore)
        let stagedSupport = staging.appending("support")
        if !externalFiles.isEmpty {
            for subfolder in Set(externalFiles.map(\.name.folder)) {
                try Folder.make(stagedSupport.appending(subfolder.rawValue))
            }
            for file in externalFiles {
                try DurableCopy.make(
                    of: file.path, at: stagedSupport.appending(FilePath(file.name.relativePath).components))
            }
            for subfolder in Set(externalFiles.map(\.name.folder)) {
                try Folder.sync(stagedSupport.appending(subfolder.rawValue))
            }
            try Folder.sync(stagedSupport)
            // The files come before the store that refers to them.
            try PlatformCalls.rename(stagedSupport, to: supportPath)
        }
        do throws(FileError) {
            try PlatformCalls.rename(stagedStore, to: storePath)
            try Folder.sync(folder)
        } catch {
            try? Folder.removeTree(at: storePath)
            try? Folder.removeTree(at: supportPath)
            throw error
        }
    }
}
