import Foundation
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// What an app has done to files and folders as they are made. Each in a process of its own, as there is one such thing for all of
/// a process.
@Suite struct FileCreationTests {
    @Test func `each file and folder is told once, by whatever it is made`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            let (root, told) = (scratch.path, Told())
            FileCreation.prepare(with: told.take)
            _ = try OpenFile.creating(root.appending("file"))
            try Folder.make(root.appending("a/b"))
            try Folder.make(root.appending("a/b"))
            let folder = try OpenFolder(following: root)
            try folder.makeFolder(at: root.appending("c/d"))
            try folder.makeFolder(at: root.appending("c/d"))
            _ = try folder.makeFile(at: root.appending("c/d/file"))
            for _ in 0..<3 { _ = try folder.lockFile(at: root.appending("c/lock")) }
            try folder.rename(root.appending("c/d/file"), to: root.appending("c/renamed"))
            _ = try OpenFile.creating(folder.pathByDescriptor.appending("by descriptor"))
            let temporary = try TemporaryFolder(in: root)
            FileCreation.prepare(with: nil)
            _ = try OpenFile.creating(root.appending("later"))
            let expected: [(String, FileCreation.Item)] = [
                ("file", .file), ("a", .folder), ("a/b", .folder), ("c", .folder), ("c/d", .folder),
                ("c/d/file", .file), ("c/lock", .file), ("by descriptor", .file),
            ]
            #expect(told.all.dropLast().map(\.0) == expected.map { root.appending(FilePath($0.0).components) })
            #expect(told.all.dropLast().map(\.1) == expected.map(\.1))
            #expect(told.all.last?.0 == temporary.path && told.all.last?.1 == .folder)
        }
    }

    @Test func `what the app refuses is not made`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            let root = scratch.path
            let folder = try OpenFolder(following: root)
            let (path, errno) = (root.appending("new"), Errno.permissionDenied)
            FileCreation.prepare { _, _ in throw errno }
            let makings: [() throws -> Void] = [
                { _ = try OpenFile.creating(path) }, { try PlatformCalls.makeFolder(path) }, { try Folder.make(path) },
            ]
            for making in makings {
                let error = #expect(throws: FileError.self) { try making() }
                #expect(error?.operation == .setAttributes && error?.errno == errno && error?.path == path)
                #expect(try Folder.names(in: root) == [])
            }
            #expect(throws: FileError.self) { _ = try folder.makeFile(at: path).size }
            #expect(throws: FileError.self) { _ = try folder.lockFile(at: path).size }
            #expect(throws: FileError.self) { try folder.makeFolder(at: path) }
            #expect(try Folder.names(in: root) == [])
            FileCreation.prepare { _, _ in throw POSIXError(.ENOSPC) }
            #expect(#expect(throws: FileError.self) { try PlatformCalls.makeFolder(path) }?.isOutOfSpace == true)
            FileCreation.prepare { _, _ in throw CancellationError() }
            #expect(#expect(throws: FileError.self) { try PlatformCalls.makeFolder(path) }?.errno == .notPermitted)
        }
    }

    @Test func `a lock file that several make at once is told once`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            let (path, told) = (scratch.path.appending("lock"), Told())
            FileCreation.prepare(with: told.take)
            for _ in 0..<50 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask { _ = try OpenFolder(following: path.removingLastComponent()).lockFile(at: path) }
                    }
                    try await group.waitForAll()
                }
                try PlatformCalls.removeFile(path)
            }
            #expect(told.all.count == 50)
        }
    }
}

private final class Told: Sendable {
    private let items = Mutex<[(FilePath, FileCreation.Item)]>([])

    var all: [(FilePath, FileCreation.Item)] { items.withLock { $0 } }

    @Sendable func take(_ path: FilePath, _ item: FileCreation.Item) { items.withLock { $0.append((path, item)) } }
}
