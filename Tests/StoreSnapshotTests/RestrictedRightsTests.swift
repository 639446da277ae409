import CLibrary
import Foundation
import GRDB
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

/// Each test runs in a process of its own, which gives up its rights: root may do everything.
@Suite struct RestrictedRightsTests {
    // Everybody's rights are the same, whichever groups this process belongs to.
    private static let readOnly = FilePermissions(rawValue: 0o444)
    private static let readOnlyFolder = FilePermissions(rawValue: 0o555)

    /// A scratch folder whose store others may read.
    private static func makeStore(
        _ rights: FilePermissions, folder: FilePermissions, _ make: (FilePath) throws -> Void
    ) throws -> (scratch: ScratchFolder, path: FilePath) {
        let scratch = try ScratchFolder()
        let path = try scratch.folder("home").appending("store.sqlite")
        try PlatformCalls.changeMode(
            of: scratch.path, to: FilePermissions(rawValue: 0o755))
        try make(path)
        for name in try Folder.names(in: path.removingLastComponent()) {
            try PlatformCalls.changeMode(of: path.removingLastComponent().appending(name), to: rights)
        }
        try PlatformCalls.changeMode(of: path.removingLastComponent(), to: folder)
        return (scratch, path)
    }

    /// Goes on as nobody, if this is root; another user's rights are as they are on the files.
    private static func giveUpRights() { if geteuid() == 0 { seteuid(65534) } }

    /// The scratch folder's owner again, to be able to remove it.
    private static func takeRightsBack(_ path: FilePath) throws {
        seteuid(getuid())
        try PlatformCalls.changeMode(of: path.removingLastComponent(), to: .ownerReadWriteExecute)
    }

    private static func error(of path: FilePath) async -> SnapshotError? {
        do throws(SnapshotError) {
            _ = try await SourceStore(at: path).compactCopy()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a file that may not be read`() async {
        await #expect(processExitsWith: .success) {
            let (scratch, path) = try Self.makeStore([], folder: Self.readOnlyFolder) {
                try SampleStore.plain.make(at: $0)
            }
            Self.giveUpRights()
            #expect(await Self.error(of: path) == .noPermission(path))
            try Self.takeRightsBack(path)
            _ = scratch
        }
    }

    @Test func `a folder that may not be entered`() async {
        await #expect(processExitsWith: .success) {
            let (scratch, path) = try Self.makeStore(Self.readOnly, folder: []) {
                try SampleStore.plain.make(at: $0)
            }
            Self.giveUpRights()
            #expect(await Self.error(of: path) == .noPermission(path))
            try Self.takeRightsBack(path)
            _ = scratch
        }
    }

    @Test func `where nothing may be written a store is read as it is`() async {
        await #expect(processExitsWith: .success) {
            for journalMode in ["DELETE", "WAL"] {
                for store in [SampleStore.plain, .checks, .generatedColumns] {
                    let (scratch, path) = try Self.makeStore(
                        Self.readOnly, folder: Self.readOnlyFolder
                    ) { try store.make(at: $0, journalMode: journalMode) }
                    Self.giveUpRights()
                    let copy = try await SourceStore(at: path).compactCopy()
                    try Self.takeRightsBack(path)
                    #expect(try Folder.names(in: path.removingLastComponent()) == ["store.sqlite"])
                    #expect(try StoreContent(of: copy.path) == StoreContent(of: path))
                    _ = scratch
                }
            }
        }
    }

    @Test func `a store that may not be written, in a folder that may, leaves nothing there`() async {
        await #expect(processExitsWith: .success) {
            let (scratch, path) = try Self.makeStore(
                Self.readOnly, folder: FilePermissions(rawValue: 0o777)
            ) { try SampleStore.plain.make(at: $0, journalMode: "WAL") }
            Self.giveUpRights()
            let copy = try await SourceStore(at: path).compactCopy()
            try Self.takeRightsBack(path)
            #expect(try Folder.names(in: path.removingLastComponent()) == ["store.sqlite"])
            #expect(try StoreContent(of: copy.path) == StoreContent(of: path))
            _ = scratch
        }
    }

    @Test func `a log whose index cannot be made`() async {
        await #expect(processExitsWith: .success) {
            let (scratch, path) = try Self.makeStore(
                Self.readOnly, folder: Self.readOnlyFolder
            ) { try Self.makeWithLog($0, suffixes: ["", "-wal"]) }
            Self.giveUpRights()
            #expect(await Self.error(of: path) == .writeAheadLogOnReadOnlyMedium(path))
            try Self.takeRightsBack(path)
            _ = scratch
        }
    }

    @Test func `a log whose index is there can be read`() async {
        await #expect(processExitsWith: .success) {
            let (scratch, path) = try Self.makeStore(
                Self.readOnly, folder: Self.readOnlyFolder
            ) { try Self.makeWithLog($0, suffixes: ["", "-wal", "-shm"]) }
            let before = try FolderListing(of: path.removingLastComponent())
            Self.giveUpRights()
            let copy = try await SourceStore(at: path).compactCopy()
            #expect(try StoreContent(of: copy.path).tables["t"] == [])
            try Self.takeRightsBack(path)
            try PlatformCalls.changeMode(
                of: path.removingLastComponent(), to: Self.readOnlyFolder)
            #expect(try FolderListing(of: path.removingLastComponent()) == before)
            try Self.takeRightsBack(path)
            _ = scratch
        }
    }

    private static func makeWithLog(_ path: FilePath, suffixes: [String]) throws {
        let live = FilePath(path.string + ".live")
        try SampleStore.plain.make(at: live, journalMode: "WAL")
        let app = try TestStore.open(live)
        try app.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM t") }
        for suffix in suffixes {
            try FileManager.default.copyItem(atPath: live.string + suffix, toPath: path.string + suffix)
        }
        try app.close()
        for suffix in ["", "-wal", "-shm"] { try Folder.removeTree(at: FilePath(live.string + suffix)) }
    }
}
