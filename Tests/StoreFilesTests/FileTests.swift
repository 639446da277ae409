import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct FileTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func errno(_ body: () throws -> Void) -> Errno? {
        do {
            try body()
            return nil
        } catch {
            return (error as? FileError)?.errno
        }
    }

    @Test func `folders are made as deep as needed, private to their owner, and only once`() throws {
        let path = scratch.path.appending("a/b/c")
        try Folder.make(path)
        try Folder.make(path)
        for path in [path, path.removingLastComponent()] {
            #expect(try PlatformCalls.status(of: path).permissions == .ownerReadWriteExecute)
        }
        let file = scratch.path.appending("file")
        _ = try OpenFile.creating(file)
        #expect(errno { try Folder.make(file) } == .notDirectory)
        #expect(errno { try Folder.make(file.appending("below")) } == .notDirectory)
        #expect(errno { try Folder.make("") } == .noSuchFileOrDirectory)
        // It is there, and no folder can be made in it.
        #expect(errno { try Folder.make("/proc/no such folder") } == .noSuchFileOrDirectory)
        #expect(errno { try Folder.make("/proc/no such folder/below") } == .noSuchFileOrDirectory)
    }

    /// As on tmpfs, where a time may be any.
    @Test func `a file gets a later time than another, unless there is none`() throws {
        let path = scratch.path.appending("file")
        let file = try OpenFile.creating(path)
        let before = try file.status.modified
        try file.setModified(after: .seconds(Int64.max))
        #expect(try file.status.modified == before)
        try file.setModified(after: before + .seconds(100))
        #expect(try file.status.modified > before + .seconds(100))
    }

    @Test func `a file is made once, for its owner, and not through a link`() throws {
        let path = scratch.path.appending("file")
        try OpenFile.creating(path).write([1, 2, 3])
        #expect(try PlatformCalls.status(of: path).permissions == .ownerReadWrite)
        #expect(errno { _ = try OpenFile.creating(path) } == .fileExists)
        let link = scratch.path.appending("link")
        try PlatformCalls.symbolicLink(at: link, to: "file")
        #expect(try OpenFile.reading(link).size == 3)
        #expect(errno { _ = try OpenFile.readingWithoutFollowing(link) } == .tooManySymbolicLinkLevels)
        #expect(errno { _ = try OpenFolder(following: scratch.path).lockFile(at: link) } == .tooManySymbolicLinkLevels)
        let dangling = scratch.path.appending("dangling")
        try PlatformCalls.symbolicLink(at: dangling, to: "nowhere")
        #expect(errno { _ = try OpenFile.creating(dangling) } == .fileExists)
        #expect(try Folder.names(in: scratch.path) == ["dangling", "file", "link"])
    }

    @Test func `reads are short only at the end`() throws {
        let path = scratch.path.appending("file")
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        try OpenFile.creating(path).write(bytes)
        let file = try OpenFile.reading(path)
        #expect(try file.read(1000, at: 0) == Array(bytes[..<1000]))
        #expect(try file.read(1000, at: 99_500) == Array(bytes[99_500...]))
        #expect(try file.read(1000, at: 100_000) == [])
        #expect(try file.read(0, at: 0) == [])
        #expect(try ContentDigest(ofFile: path) == ContentDigest(hashing: bytes))
        #expect(try ContentDigest(ofFile: file) == ContentDigest(hashing: bytes))
    }

    @Test func `a digest ends once the work is not wanted any more`() async throws {
        let path = scratch.path.appending("large")
        _ = try OpenFile.creating(path)
        // It has no blocks, and takes its time all the same.
        try #require(truncate(path.string, 16 << 30) == 0)
        let start = ContinuousClock.now
        let work = Task.detached { () -> Errno? in self.errno { _ = try ContentDigest(ofFile: path) } }
        try await Task.sleep(for: .milliseconds(50))
        work.cancel()
        #expect(await work.value == .canceled)
        // Work that is no part of a task.
        var pieces = 0
        let stopped = errno {
            _ = try ContentDigest(ofFile: path) {
                pieces += 1
                return pieces > 3
            }
        }
        #expect(stopped == .canceled)
        #expect(.now - start < .seconds(4))
    }

    @Test func `no descriptor goes to a child, and each is closed with its owner`() throws {
        let path = scratch.path.appending("file")
        let number: CInt
        do {
            let file = try OpenFile.creating(path)
            number = file.descriptor.rawValue
            #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
        }
        // Another test may have taken the number meanwhile; then it is not this file.
        let status = try? PlatformCalls.status(of: FileDescriptor(rawValue: number), path)
        #expect(try status?.inode != PlatformCalls.status(of: path).inode)
    }

    @Test func `removing a tree follows no link, and minds nothing that is not there`() throws {
        let outside = try ScratchFolder()
        _ = try OpenFile.creating(outside.path.appending("precious"))
        let tree = try scratch.folder("tree")
        try PlatformCalls.symbolicLink(at: tree.appending("link"), to: outside.path)
        try Folder.make(tree.appending("a/b"))
        try Folder.removeTree(at: tree)
        try Folder.removeTree(at: tree)
        #expect(try Folder.names(in: scratch.path) == [])
        #expect(try Folder.names(in: outside.path) == ["precious"])
        // A link itself, dangling or not, goes too.
        try PlatformCalls.symbolicLink(at: scratch.path.appending("link"), to: outside.path)
        try Folder.removeTree(at: scratch.path.appending("link"))
        #expect(try Folder.names(in: outside.path) == ["precious"])
    }

    @Test func `a lock is one file's, and goes with its descriptor`() throws {
        let path = scratch.path.appending("lock")
        let folder = try OpenFolder(following: scratch.path)
        do {
            let first = try folder.lockFile(at: path)
            #expect(try PlatformCalls.tryLock(first.descriptor, path))
            let second = try folder.lockFile(at: path)
            #expect(try !PlatformCalls.tryLock(second.descriptor, path))
        }
        let third = try folder.lockFile(at: path)
        #expect(try PlatformCalls.tryLock(third.descriptor, path))
    }

    @Test func `listing says why it cannot`() throws {
        #expect(errno { _ = try Folder.names(in: scratch.path.appending("nowhere")) } == .noSuchFileOrDirectory)
        let file = scratch.path.appending("file")
        _ = try OpenFile.creating(file)
        #expect(errno { _ = try Folder.names(in: file) } == .notDirectory)
    }
}
