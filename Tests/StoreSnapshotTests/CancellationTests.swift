import Foundation
import GRDB
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@Suite struct CancellationTests {
    private let scratch: ScratchFolder
    private let home: FilePath
    private let temporary: FilePath
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        home = try scratch.folder("home")
        temporary = try scratch.folder("temporary")
        path = home.appending("store.sqlite")
    }

    /// Cancels a copy once `hasBegun`, and checks that it ends as it should, and within `limit`.
    private func cancelCopy(within limit: Duration, once hasBegun: @Sendable () -> Bool) async throws {
        let before = try FolderListing(of: home)
        let (store, temporary) = (try SourceStore(at: path, busyTimeout: .seconds(20)), temporary)
        let copying = Task.detached { _ = try await store.compactCopy(in: temporary) }
        while !hasBegun() { await Task.yield() }
        let start = ContinuousClock.now
        copying.cancel()
        await #expect(throws: SnapshotError.cancelled) { try await copying.value }
        #expect(ContinuousClock.now - start < limit)
        #expect(try FolderListing(of: home) == before)
        #expect(try Folder.names(in: temporary) == [])
    }

    private var copySize: Int64 {
        let folder = (try? Folder.names(in: temporary))?.first.map { temporary.appending($0) }
        let copy = folder?.appending("1").appending("copy.sqlite")
        return copy.flatMap { try? PlatformCalls.status(of: $0).size } ?? 0
    }

    @Test(arguments: ["", "CHECK (length(a) > 0)"])
    func `a copy that is under way stops, and its folder goes`(check: String) async throws {
        try TestStore.make(
            at: path,
            sql: """
                PRAGMA journal_mode = WAL; CREATE TABLE t(a BLOB \(check));
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
                INSERT INTO t SELECT zeroblob(200) FROM n;
                CREATE INDEX t_a ON t(a);
                """)
        let size = try PlatformCalls.status(of: path).size
        let full = try await ContinuousClock().measure {
            _ = try await SourceStore(at: path).compactCopy(in: temporary)
        }
        try await cancelCopy(within: full / 2) { copySize > size / 10 }
    }

    @Test func `a copy that waits for a lock stops waiting`() async throws {
        try SampleStore.plain.make(at: path)
        let app = try TestStore.open(path)
        try await app.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let temporary = temporary
        try await cancelCopy(within: .seconds(5)) { (try? Folder.names(in: temporary))?.isEmpty == false }
        try await app.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try app.close()
    }

    @Test func `a task that is cancelled before it begins takes no copy`() async throws {
        try SampleStore.plain.make(at: path)
        let (store, temporary) = (try SourceStore(at: path), temporary)
        let copying = Task.detached {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await store.compactCopy(in: temporary)
        }
        await #expect(throws: SnapshotError.cancelled) { try await copying.value }
        #expect(try Folder.names(in: temporary) == [])
    }
}
