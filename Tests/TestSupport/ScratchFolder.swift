import Foundation
import StoreFiles
package import SystemPackage

/// A folder for one test, which goes away with it.
package final class ScratchFolder: Sendable {
    package let path: FilePath

    /// - Parameter parent: Where to make it.
    package init(in parent: FilePath = FilePath(NSTemporaryDirectory())) throws {
        // Without symbolic links, so that paths can be compared.
        path = try PlatformCalls.realPath(of: parent).appending("test-of-ship-store-\(UUID().uuidString)")
        try PlatformCalls.makeFolder(path)
    }

    /// In memory, where there is such a folder: for tests that sync thousands of times.
    package static func inMemory() throws -> ScratchFolder {
        let memory: FilePath = "/dev/shm"
        return PlatformCalls.canWrite(memory) ? try ScratchFolder(in: memory) : try ScratchFolder()
    }

    deinit { try? Folder.removeTree(at: path) }

    /// A new folder in this one.
    package func folder(_ name: String) throws -> FilePath {
        let folder = path.appending(name)
        try PlatformCalls.makeFolder(folder)
        return folder
    }
}
