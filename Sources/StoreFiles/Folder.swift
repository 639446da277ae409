import EssentialFoundation
package import SystemPackage

/// What is done to folders as a whole.
package enum Folder {
    /// Makes the folder, private to its owner, and those above it that are missing, each made durable in its parent.
    package static func make(_ path: FilePath) throws(FileError) {
        do throws(FileError) {
            try PlatformCalls.makeFolder(path)
        } catch {
            switch error.errno {
            case .fileExists:
                guard try PlatformCalls.statusFollowingLinks(of: path).kind == .folder else {
                    throw FileError(.makeFolder, path, .notDirectory)
                }
                return
            case .noSuchFileOrDirectory where !path.removingLastComponent().isEmpty && path.lastComponent != nil:
                try make(path.removingLastComponent())
                return try make(path)
            default: throw error
            }
        }
        let parent = path.removingLastComponent()
        try sync(parent.isEmpty ? "." : parent)
    }

    /// The names in a folder, sorted, without `.` and `..`.
    package static func names(in path: FilePath) throws(FileError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path.string).sorted()
        } catch {
            let status = try PlatformCalls.statusFollowingLinks(of: path)
            throw FileError(.listFolder, path, status.kind == .folder ? .permissionDenied : .notDirectory)
        }
    }

    /// Removes a file, a link or a folder with all that is in it. What is not there is no error.
    package static func removeTree(at path: FilePath) throws(FileError) {
        guard (try? PlatformCalls.status(of: path)) != nil else { return }
        do {
            try FileManager.default.removeItem(atPath: path.string)
        } catch {
            guard (try? PlatformCalls.status(of: path)) != nil else { return }
            throw FileError(.remove, path, .permissionDenied)
        }
    }

    /// fsync(2) on the folder: without it a rename in it may not survive a power cut.
    package static func sync(_ path: FilePath) throws(FileError) {
        let descriptor = try OpenFile.reading(path)
        try PlatformCalls.sync(descriptor.descriptor, path)
    }
}
