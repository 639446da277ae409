import CLibrary
import Foundation
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@Suite struct SpaceTests {
    private static func makeStore(at path: FilePath, check: String = "") throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE t(a BLOB \(check));
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO t SELECT randomblob(1000) FROM n;
                """)
    }

    /// A file system of one megabyte; `nil` where this process may not mount any.
    private static func mount(at path: FilePath) -> Bool {
        run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", path.string)
    }

    private static func run(_ command: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Where its canonical form is made of the vacuumed copy, because only the app knows an order, there has to be room for both.
    @Test(arguments: [false, true])
    func `there is no room for the copy`(isVacuumed: Bool) async throws {
        let scratch = try ScratchFolder()
        let (path, small) = (scratch.path.appending("store.sqlite"), try scratch.folder("small"))
        try Self.makeStore(at: path)
        if isVacuumed {
            try TestStore.make(
                at: path,
                sql: """
                    CREATE TABLE n(x COLLATE NOCASE UNIQUE); PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET sql = 'CREATE TABLE n(x COLLATE apps UNIQUE)' WHERE name = 'n'
                    """)
        }
        guard Self.mount(at: small) else { return }
        defer { _ = Self.run("umount", small.string) }
        let size = try PlatformCalls.status(of: path).size
        await #expect {
            _ = try await SourceStore(at: path).compactCopy(in: small)
        } throws: { error in
            guard case .noSpace(let folder, let needed, let free) = error as? SnapshotError else { return false }
            return folder.starts(with: small) && needed == (isVacuumed ? 2 : 1) * size && (1...1_048_576).contains(free)
        }
        #expect(try Folder.names(in: small) == [])
    }

    @Test func `there is no room for the copy and the pages that rows are left out of`() async throws {
        let scratch = try ScratchFolder()
        let (path, small) = (scratch.path.appending("store.sqlite"), try scratch.folder("small"))
        try TestStore.make(
            at: path,
            sql:
                "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(600000)); CREATE TABLE u(a); INSERT INTO u VALUES (1)"
        )
        guard Self.mount(at: small) else { return }
        defer { _ = Self.run("umount", small.string) }
        let size = try PlatformCalls.status(of: path).size
        // There is room for the one.
        _ = try await SourceStore(at: path).compactCopy(in: small, inCanonicalForm: false)
        var profile = CopyProfile()
        profile.emptiedTables = ["u"]
        await #expect {
            _ = try await SourceStore(at: path).compactCopy(in: small, profile, inCanonicalForm: false)
        } throws: { error in
            guard case .noSpace(_, let needed, _) = error as? SnapshotError else { return false }
            return needed == 2 * size
        }
        #expect(try Folder.names(in: small) == [])
    }

    @Test(arguments: ["", "CHECK (length(a) > 0)"])
    func `the room ends while the copy is written`(check: String) async {
        await #expect(processExitsWith: .success) { [check] in
            let scratch = try ScratchFolder()
            let (path, temporary) = (scratch.path.appending("store.sqlite"), try scratch.folder("temporary"))
            try Self.makeStore(at: path, check: check)
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 500_000, rlim_max: 500_000)
            #if canImport(Glibc)
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            #else
                setrlimit(RLIMIT_FSIZE, &limit)
            #endif
            await #expect(throws: SnapshotError.noRoom(folder: temporary, .fileSize(500_000))) {
                _ = try await SourceStore(at: path).compactCopy(in: temporary)
            }
            #expect(try Folder.names(in: temporary) == [])
        }
    }
}
