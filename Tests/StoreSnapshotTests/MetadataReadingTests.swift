import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

/// What a live store says of itself.
@Suite struct MetadataReadingTests {
    private let scratch: ScratchFolder
    private let home: FilePath
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        home = try scratch.folder("home")
        path = home.appending("store.sqlite")
    }

    @Test func `a Core Data store tells its model and its newest transaction`() async throws {
        let sample = try CoreDataSample(at: path)
        #expect(try await SourceStore(at: path).metadata().historyToken == nil)
        try sample.addHistory(transactions: 12)
        let metadata = try await SourceStore(at: path).metadata()
        #expect(metadata.identity == ForeignText(CoreDataSample.identity))
        #expect(metadata.historyToken == 12)
        let coreData = try #require(metadata.coreData)
        #expect(coreData.entityVersionHashes == CoreDataSample.hashes)
        #expect(coreData.storeType == "SQLite" && coreData.frameworkVersion == 1414)
        #expect(coreData.modelVersionIdentifiers == [""])
        #expect(metadata.sqlite.journal == .writeAheadLog)
    }

    @Test(arguments: [
        (SampleStore.autoVacuumFull, StoreMetadata.SQLite.AutoVacuum.full), (.autoVacuumIncremental, .incremental),
        (.freePages, .none), (.utf16BigEndian, .none), (.numbersInHeader, .none), (.unknownModule, .none),
    ])
    func `any store tells SQLite's figures`(
        store: SampleStore, autoVacuum: StoreMetadata.SQLite.AutoVacuum
    ) async throws {
        try store.make(at: path, pageSize: 1024)
        let metadata = try await SourceStore(at: path).metadata()
        let sqlite = metadata.sqlite
        #expect(sqlite.pageSize == 1024 && sqlite.pageCount * 1024 == sqlite.size && sqlite.logSize == 0)
        #expect((sqlite.freePages > 0) == [.freePages, .autoVacuumIncremental].contains(store))
        #expect(sqlite.textEncoding == (store == .utf16BigEndian ? .utf16BigEndian : .utf8))
        #expect(sqlite.applicationID == (store == .numbersInHeader ? -1702 : 0))
        #expect(sqlite.userVersion == (store == .numbersInHeader ? -42 : 0))
        #expect(sqlite.autoVacuum == autoVacuum && sqlite.journal == .rollback)
        #expect(metadata.identity == nil && metadata.coreData == nil && metadata.metadata == [:])
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `reading changes nothing, and a writer is not in the way`(journalMode: String) async throws {
        try SampleStore.plain.make(at: path, journalMode: journalMode)
        let before = try FolderListing(of: home)
        _ = try await SourceStore(at: path).metadata()
        #expect(try FolderListing(of: home) == before)
        let app = try TestStore.open(path)
        try await app.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE; DELETE FROM t WHERE id = 1") }
        _ = try await SourceStore(at: path, busyTimeout: .zero).metadata()
        // The app's lock is still there.
        await #expect(processExitsWith: .success) { [path = path.string as String] in
            let other = try TestStore.open(FilePath(path))
            #expect(throws: DatabaseError.self) {
                try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            }
        }
        try await app.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try app.close()
    }

    @Test func `what is in the log counts`() async throws {
        try CoreDataSample(at: path).addHistory(transactions: 3)
        let app = try TestStore.open(path, preparation: "PRAGMA wal_autocheckpoint = 0")
        try await app.write { try $0.execute(sql: "INSERT INTO ATRANSACTION(Z_PK) VALUES (77)") }
        let metadata = try await SourceStore(at: path).metadata()
        #expect(metadata.historyToken == 77)
        #expect(metadata.sqlite.logSize > 0)
        try app.close()
    }

    @Test func `pairs that no manifest can have are passed over`() async throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE ship_store_metadata(key, value);
                INSERT INTO ship_store_metadata VALUES ('a', 'b'), ('a key', 'x'), ('n', 1), (NULL, 'x'),
                    ('long', printf('%2000d', 1)), ('blob', x'61');
                """)
        #expect(try await SourceStore(at: path).metadata().metadata == ["a": "b"])
        try TestStore.make(at: path, sql: "ALTER TABLE ship_store_metadata RENAME COLUMN value TO other")
        #expect(try await SourceStore(at: path).metadata().metadata == [:])
    }
}
