import StoreFiles
import SystemPackage

/// A store that is to go, or what is left of it after somebody was killed who removed it.
package struct StoreRemains: Sendable {
    private let home: StoreHome

    package init(of home: StoreHome) { self.home = home }

    /// Whether the store itself is gone, and something of it is still there.
    package var areLeft: Bool {
        func exists(_ path: FilePath) -> Bool { (try? PlatformCalls.status(of: path)) != nil }
        return !exists(home.path) && (home.sidecars + [home.supportFolder.path]).contains(where: exists)
    }

    /// Removes the sidecars first: beside another store of that name they would be taken for its own. The external files
    /// come last, because without the store nobody refers to them.
    package func remove() throws(OperationError) {
        try OperationError.wrapping { () throws(FileError) in
            for path in home.sidecars + [home.path] where (try? PlatformCalls.status(of: path)) != nil {
                try PlatformCalls.removeFile(path)
            }
            try Folder.sync(home.folder)
            try Folder.removeTree(at: home.supportFolder.path)
            try Folder.sync(home.folder)
        }
    }
}
