import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What is reached through an open folder lies in it.
@Suite struct OpenFolderTests {
    private let scratch: ScratchFolder
    private let (root, outside): (FilePath, FilePath)

    init() throws {
        scratch = try ScratchFolder()
        root = try scratch.folder("root")
        outside = try scratch.folder("outside")
        try PlatformCalls.makeFolder(root.appending("a"))
        try PlatformCalls.makeFolder(root.appending("a").appending("b"))
        try OpenFile.creating(root.appending("a").appending("b").appending("file")).write([1])
        try OpenFile.creating(outside.appending("file")).write([2])
        try PlatformCalls.symbolicLink(at: root.appending("link"), to: outside)
        try PlatformCalls.symbolicLink(at: root.appending("a").appending("up"), to: "../b")
        try PlatformCalls.symbolicLink(at: root.appending("a").appending("inner"), to: "b")
        try PlatformCalls.symbolicLink(at: root.appending("last"), to: "a/b/file")
    }

    @Test func `a file below it is read, and another made`() throws {
        let folder = try OpenFolder(following: root)
        #expect(try folder.file(at: root.appending("a/b/file")).read(9, at: 0) == [1])
        try folder.makeFile(at: root.appending("a/b/new")).write([3])
        #expect(try folder.names(in: root.appending("a/b")) == ["file", "new"])
        try folder.makeFolder(at: root.appending("c/d/e"))
        try folder.rename(root.appending("a/b/new"), to: root.appending("c/d/e/new"))
        #expect(try folder.file(at: root.appending("c/d/e/new")).read(9, at: 0) == [3])
        #expect(throws: FileError.self) { _ = try folder.makeFile(at: root.appending("a/b/file")).size }
        try folder.removeTree(at: root.appending("c"))
        try folder.removeTree(at: root.appending("c"))
        #expect(try folder.names(in: root) == ["a", "last", "link"])
    }

    @Test(arguments: ["link/file", "link", "a/inner/file", "a/up/file", "last", "a/up"])
    func `no link is followed, at no place of a path`(path: String) throws {
        let folder = try OpenFolder(following: root)
        let path = root.appending(FilePath(path).components)
        let error = #expect(throws: FileError.self) { _ = try folder.file(at: path).size }
        #expect([.tooManySymbolicLinkLevels, .notDirectory].contains(error?.errno), "\(String(describing: error))")
        #expect(throws: FileError.self) { try folder.sync(path) }
        #expect(throws: FileError.self) { _ = try folder.names(in: path) }
        #expect(throws: FileError.self) { _ = try folder.lockFile(at: path).size }
    }

    @Test func `nothing is changed through a link`() throws {
        let before = try FolderListing(of: outside)
        let folder = try OpenFolder(following: root)
        let through = root.appending("link")
        for attempt: () throws -> Void in [
            { _ = try folder.makeFile(at: through.appending("new")).size },
            { try folder.makeFolder(at: through.appending("new")) },
            { try folder.removeFile(through.appending("file")) },
            { try folder.rename(root.appending("a/b/file"), to: through.appending("file")) },
            { try folder.symbolicLink(at: through.appending("new"), to: "x") },
            { try folder.hardLink(root.appending("a/b/file"), in: folder, as: through.appending("new")) },
            { try folder.hardLink(through.appending("file"), in: folder, as: root.appending("new")) },
            { _ = try folder.targetOfSymbolicLink(at: through.appending("file")) },
            { _ = try folder.status(of: through.appending("file")) },
        ] {
            #expect(throws: FileError.self, performing: attempt)
        }
        // The link itself is ours to remove.
        try folder.removeTree(at: through)
        #expect(try FolderListing(of: outside) == before)
        #expect(try folder.names(in: root) == ["a", "last"])
    }

    @Test func `paths that are not below it are refused`() throws {
        let folder = try OpenFolder(following: root)
        for path: FilePath in [
            outside.appending("file"), root.appending("../outside/file"), root.appending("a/../a/b/file"),
            "/etc/passwd",
        ] {
            let error = #expect(throws: FileError.self) { _ = try folder.file(at: path).size }
            #expect(error?.errno == .improperLink)
        }
    }

    @Test func `what is open stays the same, whatever gets its name`() throws {
        let folder = try OpenFolder(following: root)
        try PlatformCalls.rename(root, to: scratch.path.appending("moved"))
        try PlatformCalls.symbolicLink(at: root, to: outside)
        try folder.makeFile(at: root.appending("mine")).write([4])
        #expect(try Folder.names(in: outside) == ["file"])
        #expect(try Folder.names(in: scratch.path.appending("moved")).contains("mine"))
        #expect(try OpenFile.readingWithoutFollowing(folder.pathByDescriptor.appending("mine")).size == 1)
    }

    @Test func `what lies where a file is to be made aside stays, and so does what it was to replace`() throws {
        let folder = try OpenFolder(following: root)
        let (path, aside) = (root.appending("note"), root.appending("a/b/file"))
        try folder.replace(path, with: [1, 2], aside: root.appending("aside"))
        let error = #expect(throws: FileError.self) { try folder.replace(path, with: [3], aside: aside) }
        #expect(error?.errno == .fileExists)
        #expect(try folder.file(at: aside).read(9, at: 0) == [1])
        #expect(try folder.file(at: path).read(9, at: 0) == [1, 2])
        // What it has made itself goes.
        #expect(throws: FileError.self) {
            try folder.replace(root.appending("a"), with: [3], aside: root.appending("aside"))
        }
        #expect(try folder.names(in: root) == ["a", "last", "link", "note"])
    }

    @Test func `an empty folder in the place of a file goes, and one with something in it is named`() throws {
        let folder = try OpenFolder(following: root)
        let (path, aside) = (root.appending("c"), root.appending("aside"))
        try PlatformCalls.makeFolder(path)
        try folder.replace(path, with: [1], aside: aside)
        #expect(try folder.file(at: path).read(9, at: 0) == [1])
        let lock = root.appending("lock")
        try PlatformCalls.makeFolder(lock)
        #expect(try folder.lockFile(at: lock).size == 0)
        let full = FileError(.write, root.appending("a"), .isDirectory)
        #expect(throws: full) { try folder.replace(root.appending("a"), with: [1], aside: aside) }
        #expect(throws: full) { _ = try folder.lockFile(at: root.appending("a")).size }
        try folder.symbolicLink(at: aside, to: "c")
        #expect(throws: full) { try folder.put(aside, at: root.appending("a")) }
        #expect(try folder.names(in: root) == ["a", "aside", "c", "last", "link", "lock"])
    }

    @Test func `a pipe is no file, and nobody waits for it`() throws {
        try #require(mkfifo(root.appending("pipe").string, 0o600) == 0)
        let folder = try OpenFolder(following: root)
        let error = #expect(throws: FileError.self) { _ = try folder.file(at: root.appending("pipe")).size }
        #expect(error?.errno == .invalidArgument)
        let other = #expect(throws: FileError.self) { _ = try OpenFile.readingPlain(root.appending("pipe")).size }
        #expect(other?.errno == .invalidArgument)
        #expect(try OpenFile.readingPlain(root.appending("last")).read(9, at: 0) == [1])
    }

    /// What the system says of names is read in pieces of 32 KiB; nothing beyond the end of one may be.
    @Test func `many names are listed, of whatever length`() async {
        // A process of its own: reading too far ends it.
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            for length in [36, 37, 100, 255] {
                let folder = try scratch.folder("\(length)")
                let names = (0..<1200).map { number in
                    String(repeating: "0", count: length - "\(number)".count) + "\(number)"
                }
                for name in names { _ = try OpenFile.creating(folder.appending(name)) }
                for _ in 0..<3 { #expect(try OpenFolder(folder).names(in: folder) == names) }
            }
        }
    }
}
