import GRDB
import ShipProtocol
import StoreFiles
import StoreFormat
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@Suite struct RoundTripTests {
    private let scratch: ScratchFolder
    private let home: FilePath
    private let temporary: FilePath

    init() throws {
        scratch = try ScratchFolder()
        home = try scratch.folder("home")
        temporary = try scratch.folder("temporary")
    }

    /// Copies the store, and checks all that is true of every copy.
    private func checkCopy(of path: FilePath) async throws {
        let before = try FolderListing(of: home)
        try await {
            let copy = try await SourceStore(at: path).compactCopy(in: temporary)
            let status = try PlatformCalls.status(of: copy.path)
            #expect(status.permissions == .ownerReadWrite)
            #expect(status.size == copy.facts.size)
            let folders = try Folder.names(in: temporary).map { temporary.appending($0) }
            #expect(try folders.map { try PlatformCalls.status(of: $0).permissions } == [.ownerReadWriteExecute])
            #expect(try Folder.names(in: copy.path.removingLastComponent()) == ["copy.sqlite"])

            let header = try DatabaseHeader(decoding: OpenFile.reading(copy.path).read(100, at: 0))
            #expect(!header.isInWALMode)
            #expect(header.pageSize == copy.facts.pageSize)
            #expect(header.pageCount == copy.facts.pageCount)
            #expect(try ContentDigest(ofFile: copy.path) == copy.facts.sha256)
            #expect(try StoreContent(of: copy.path) == StoreContent(of: path))
        }()
        #expect(try Folder.names(in: temporary) == [])
        // The look at the rows above was a read-only connection of its own, and leaves its files: only those.
        let after = try FolderListing(of: home)
        let sidecars = ["-wal", "-shm"].map { path.string + $0 }.map { FilePath($0).lastComponent?.string ?? "" }
        #expect(after.entries.filter { !sidecars.contains($0.name) } == before.entries)
    }

    @Test(arguments: SampleStore.allCases, ["DELETE", "WAL"])
    func `a copy has the same schema and the same rows`(store: SampleStore, journalMode: String) async throws {
        let path = home.appending("store.sqlite")
        try store.make(at: path, journalMode: journalMode)
        try await checkCopy(of: path)
    }

    @Test(arguments: [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536], ["DELETE", "WAL"])
    func `every page size is kept`(pageSize: Int, journalMode: String) async throws {
        let path = home.appending("store.sqlite")
        try SampleStore.plain.make(at: path, journalMode: journalMode, pageSize: pageSize)
        try await checkCopy(of: path)
        #expect(try await SourceStore(at: path).compactCopy(in: temporary).facts.pageSize == pageSize)
    }

    @Test(arguments: [
        "with space", "it's \"quoted\"", "100%41.sqlite", "what?mode=rw", "a#b", "Zürich 東京 🚢.db", "-dash", ".hidden",
        "file:x?immutable=1", "semi;colon", "back\\slash", "new\nline", "e\u{301}", ":memory:",
    ])
    func `any name of a file will do`(name: String) async throws {
        for journalMode in ["DELETE", "WAL"] {
            let path = home.appending("\(name)-\(journalMode)")
            try SampleStore.viewsAndTriggers.make(at: path, journalMode: journalMode)
            try await checkCopy(of: path)
        }
    }

    @Test func `a file of no bytes is a store without tables`() async throws {
        let path = home.appending("empty.sqlite")
        _ = try OpenFile.creating(path)
        try await checkCopy(of: path)
        let facts = try await SourceStore(at: path).compactCopy(in: temporary).facts
        #expect(facts.pageCount == 1)
    }

    @Test func `what the header says is kept`() async throws {
        let path = home.appending("store.sqlite")
        try SampleStore.numbersInHeader.make(at: path)
        let facts = try await SourceStore(at: path).compactCopy(in: temporary).facts
        #expect(facts.applicationID == -1702)
        #expect(facts.userVersion == -42)
    }

    @Test(arguments: [
        (SampleStore.plain, StoreFacts.TextEncoding.utf8), (.utf16LittleEndian, .utf16LittleEndian),
        (.utf16BigEndian, .utf16BigEndian),
    ])
    func `the text encoding is kept`(store: SampleStore, encoding: StoreFacts.TextEncoding) async throws {
        let path = home.appending("store.sqlite")
        try store.make(at: path)
        #expect(try await SourceStore(at: path).compactCopy(in: temporary).facts.textEncoding == encoding)
    }

    @Test(arguments: [(SampleStore.autoVacuumFull, 1), (.autoVacuumIncremental, 2), (.plain, 0)])
    func `auto-vacuum is kept`(store: SampleStore, mode: Int) async throws {
        let path = home.appending("store.sqlite")
        try store.make(at: path)
        let copy = try await SourceStore(at: path).compactCopy(in: temporary)
        let queue = try DatabaseQueue(path: copy.path.string)
        #expect(try await queue.read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") } == mode)
    }

    @Test(arguments: [SampleStore.plain, .checks, .fts5])
    func `rowids are kept, whether or not they have a name`(store: SampleStore) async throws {
        let path = home.appending("store.sqlite")
        try store.make(at: path, journalMode: "WAL")
        let copy = try await SourceStore(at: path).compactCopy(in: temporary)
        func rowids(_ path: FilePath) throws -> [Int64] {
            let table = store == .fts5 ? "f_content" : "t"
            return try DatabaseQueue(path: path.string).read { database in
                try Int64.fetchAll(database, sql: "SELECT rowid FROM \(table) NOT INDEXED ORDER BY rowid")
            }
        }
        #expect(try rowids(copy.path) == rowids(path))
    }

    @Test func `free pages are left out`() async throws {
        let path = home.appending("store.sqlite")
        try SampleStore.freePages.make(at: path)
        let size = try PlatformCalls.status(of: path).size
        #expect(try await SourceStore(at: path).compactCopy(in: temporary).facts.size < size)
    }

    @Test func `two copies of an unchanged store are the same bytes`() async throws {
        let path = home.appending("store.sqlite")
        try SampleStore.plain.make(at: path, journalMode: "WAL")
        let first = try await SourceStore(at: path).compactCopy(in: temporary).facts
        let second = try await SourceStore(at: path).compactCopy(in: temporary).facts
        #expect(first == second)
    }

    @Test func `the schema digest does not depend on the order of making`() async throws {
        let paths = [home.appending("a.sqlite"), home.appending("b.sqlite"), home.appending("c.sqlite")]
        try TestStore.make(at: paths[0], sql: "CREATE TABLE a(x); CREATE TABLE b(y);")
        try TestStore.make(at: paths[1], sql: "CREATE TABLE b(y); CREATE TABLE a(x); INSERT INTO a VALUES (1);")
        try TestStore.make(at: paths[2], sql: "CREATE TABLE b(y); CREATE TABLE a(z);")
        var digests: [ContentDigest] = []
        for path in paths {
            digests.append(try await SourceStore(at: path).compactCopy(in: temporary).facts.schemaSHA256)
        }
        #expect(digests[0] == digests[1])
        #expect(digests[0] != digests[2])
    }

    @Test func `a symbolic link leads to the store and its log`() async throws {
        let path = home.appending("store.sqlite")
        let link = scratch.path.appending("link.sqlite")
        try SampleStore.plain.make(at: path, journalMode: "WAL")
        try PlatformCalls.symbolicLink(at: link, to: "home/store.sqlite")
        let app = try TestStore.open(path)
        try await app.write { try $0.execute(sql: "DELETE FROM t") }
        let copy = try await SourceStore(at: link).compactCopy(in: temporary)
        #expect(try StoreContent(of: copy.path).tables["t"] == [])
    }
}
