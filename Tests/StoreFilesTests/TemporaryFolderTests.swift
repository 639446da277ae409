import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct TemporaryFolderTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test func `it is private, and goes with its owner and all that is in it`() throws {
        do {
            let folder = try TemporaryFolder(in: scratch.path)
            #expect(try PlatformCalls.status(of: folder.path).permissions == .ownerReadWriteExecute)
            _ = try OpenFile.creating(folder.path.appending("file"))
        }
        #expect(try Folder.names(in: scratch.path) == [])
    }

    private func ourName(_ place: TemporaryFolder.Place) -> String { place.rawValue + UUID().uuidString }

    @Test(arguments: [TemporaryFolder.Place.temporary, .besideResults])
    func `what nobody has locked any more is swept, and nothing else`(place: TemporaryFolder.Place) throws {
        let held = try TemporaryFolder(in: scratch.path, place)
        let (dead, file, link) = (ourName(place), ourName(place), ourName(place))
        // Others name folders after this program too.
        for name in [dead, place.rawValue + "notes", "something-\(UUID())"] {
            _ = try OpenFile.creating(try scratch.folder(name).appending("file"))
        }
        _ = try OpenFile.creating(scratch.path.appending(file))
        let outside = try ScratchFolder()
        try PlatformCalls.symbolicLink(at: scratch.path.appending(link), to: outside.path)
        let before = try Folder.names(in: scratch.path)
        let next = try TemporaryFolder(in: scratch.path, place)
        let expected = (before + [next.path.lastComponent?.string].compactMap(\.self)).filter { $0 != dead }.sorted()
        #expect(expected.contains(held.path.lastComponent?.string ?? ""))
        #expect(try Folder.names(in: scratch.path) == expected)
        #expect((try? PlatformCalls.status(of: outside.path)) != nil)
    }

    /// A folder inherits the bit S_ISGID. What others could have written is not known to be of this program.
    @Test(arguments: [0o2770, 0o755, 0o777] as [CInterop.Mode], [TemporaryFolder.Place.temporary, .besideResults])
    func `it is swept if it is private, whatever bit it inherits`(mode: CInterop.Mode, place: TemporaryFolder.Place)
        throws
    {
        let above = try scratch.folder("above")
        try PlatformCalls.changeMode(of: above, to: FilePermissions(rawValue: mode))
        let dead = above.appending(ourName(place))
        try PlatformCalls.makeFolder(dead)
        if mode & 0o7000 == 0 { try PlatformCalls.changeMode(of: dead, to: FilePermissions(rawValue: mode)) }
        TemporaryFolder.sweep(above, place)
        #expect(try Folder.names(in: above).isEmpty == (mode & 0o7000 != 0))
    }

    /// - Returns: The folder of external files that a copy has put in its place, which was killed before its store was there.
    private func filesOfKilledCopy() throws -> FilePath {
        let dead = scratch.path.appending(ourName(.besideResults))
        try Folder.make(dead.appending(StagedCopy.support))
        try OpenFile.creating(dead.appending(StagedCopy.store)).write([1])
        let support = scratch.path.appending(".Tea_SUPPORT")
        try StagedCopy.note(support, before: scratch.path.appending("Tea.sqlite"), in: dead)
        try PlatformCalls.rename(dead.appending(StagedCopy.support), to: support)
        return support
    }

    @Test func `the files of a copy that was killed go with it, once nobody else is at work on them`() throws {
        let support = try filesOfKilledCopy()
        do {
            let lock = try FolderLock.take(.exclusive, on: support)
            defer { withExtendedLifetime(lock) {} }
            TemporaryFolder.sweep(scratch.path, .besideResults)
            #expect(try Folder.names(in: scratch.path).count == 2)
        }
        TemporaryFolder.sweep(scratch.path, .besideResults)
        #expect(try Folder.names(in: scratch.path) == [])
    }

    /// Whoever makes a folder where that of a killed copy has been removed may get its inode.
    @Test func `a folder that is not as the killed copy has left it stays`() throws {
        let support = try filesOfKilledCopy()
        try OpenFile.creating(support.appending("mine")).write([2])
        TemporaryFolder.sweep(scratch.path, .besideResults)
        #expect(try Folder.names(in: scratch.path) == [".Tea_SUPPORT"])
        #expect(try Folder.names(in: support) == ["mine"])
    }

    @Test func `what has taken its place stays`() throws {
        do {
            let folder = try TemporaryFolder(in: scratch.path)
            try PlatformCalls.rename(folder.path, to: scratch.path.appending("moved away"))
            try PlatformCalls.makeFolder(folder.path)
            _ = try OpenFile.creating(folder.path.appending("another's"))
        }
        #expect(try Folder.names(in: scratch.path).count == 2)
    }

    @Test func `a process that ends removes also those that are still held`() async throws {
        await #expect(processExitsWith: .success) { [path = scratch.path.string as String] in
            let folder = try TemporaryFolder(in: FilePath(path))
            _ = try OpenFile.creating(folder.path.appending("file"))
            TemporaryFolder.removeAll()
            exit(0)
        }
        #expect(try Folder.names(in: scratch.path) == [])
    }

    @Test func `that of a killed process is swept`() async throws {
        let path = scratch.path
        let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [path = path.string as String] in
            let folder = try TemporaryFolder(in: FilePath(path))
            _ = try OpenFile.creating(folder.path.appending("file"))
            kill(getpid(), SIGKILL)
        }
        #expect(result != nil)
        #expect(try Folder.names(in: path).count == 1)
        let next = try TemporaryFolder(in: path)
        #expect(try Folder.names(in: path) == [next.path.lastComponent?.string])
    }

    @Test func `many at the same time do not sweep each other away`() async throws {
        let path = scratch.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<50 {
                        let folder = try TemporaryFolder(in: path)
                        try OpenFile.creating(folder.path.appending("file")).write([1])
                        _ = try ContentDigest(ofFile: folder.path.appending("file"))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try Folder.names(in: path) == [])
    }
}
