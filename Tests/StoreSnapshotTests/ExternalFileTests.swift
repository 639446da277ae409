import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import StoreSnapshot

@Suite struct ExternalFileTests {
    private let scratch: ScratchFolder
    private let home: FilePath
    private let temporary: FilePath
    private let sample: CoreDataSample

    init() throws {
        scratch = try ScratchFolder()
        home = try scratch.folder("home")
        temporary = try scratch.folder("temporary")
        sample = try CoreDataSample(at: home.appending("My.Recipes.sqlite"))
    }

    private func copy(allowingMissing: Bool = false, in parent: FilePath? = nil) async throws -> CompactCopy {
        try await SourceStore(at: sample.path).compactCopy(
            in: parent ?? temporary, allowsMissingExternalFiles: allowingMissing)
    }

    private func name(_ uuid: String, _ folder: ExternalFileName.Folder = .externalData) throws -> ExternalFileName {
        try #require(ExternalFileName(folder: folder, uuid: uuid))
    }

    private func reference(_ uuid: String, row: Int64) throws -> ExternalFileReference {
        ExternalFileReference(table: "ZPHOTO", column: "ZDATA", row: row, name: try name(uuid))
    }

    @Test func `a Core Data store's facts are in the manifest`() async throws {
        let uuid = try sample.addPhoto(key: 1, content: Data("photo".utf8))
        let copy = try await copy()
        let storeName = try #require(StoreName("Recipes"))
        let createdAt = try #require(Timestamp("2026-11-20T19:04:05Z"))
        let manifest = try copy.manifest(
            name: storeName, createdAt: createdAt, software: "test 1", metadata: ["a": "b"])
        #expect(manifest.identity == ForeignText(CoreDataSample.identity))
        #expect(
            manifest.coreData?.entityVersionHashes == CoreDataSample.hashes)
        #expect(manifest.externalFiles.map(\.name) == [try name(uuid)])
        #expect(manifest.missingExternalFiles == [])
        #expect(manifest.store == copy.facts)
        #expect(manifest.metadata == ["a": "b"])
        #expect(manifest.producer.sqlite.unescaped.hasPrefix("3."))
        #expect(manifest.createdAt == createdAt)
        #expect(manifest.firstFlaw == nil)
    }

    @Test func `a property list that cannot be read claims nothing`() async throws {
        for value in ["NULL", "x'00'", "'text'", "7"] {
            try TestStore.make(at: sample.path, sql: "UPDATE Z_METADATA SET Z_PLIST = \(value)")
            #expect(try await copy().coreData == Manifest.CoreDataFacts(entityVersionHashes: [:]))
        }
        try TestStore.make(at: sample.path, sql: "DELETE FROM Z_METADATA")
        let copy = try await copy()
        #expect(copy.coreData == Manifest.CoreDataFacts(entityVersionHashes: [:]))
        #expect(copy.identity == nil)
    }

    @Test func `another store with a table of that name is none of Core Data's`() async throws {
        let path = home.appending("other.sqlite")
        try TestStore.make(
            at: path, sql: "CREATE TABLE Z_METADATA(a); CREATE TABLE Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX)")
        #expect(try await SourceStore(at: path).compactCopy(in: temporary).coreData == nil)
    }

    @Test func `a file that is as it was when it was read is not read again`() async throws {
        let uuid = try sample.addPhoto(key: 1, content: Data("first".utf8))
        let file = home.appending(".My.Recipes_SUPPORT/_EXTERNAL_DATA").appending(uuid)
        func write(_ text: String, _ time: Date) throws {
            let descriptor = try FileDescriptor.open(file, .writeOnly)
            try descriptor.writeAll(toAbsoluteOffset: 0, text.utf8)
            try descriptor.close()
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: file.string)
        }
        var store = try SourceStore(at: sample.path)
        store.digests = ExternalFileDigests()
        func digest() async throws -> ContentDigest? {
            try await store.compactCopy(in: temporary).externalFiles.first?.file.sha256
        }
        let now = Date()
        for (text, time, found) in [
            ("first", -100, "first"), ("stale", -100, "first"), ("newer", -50.5, "newer"),
            // A time that is not over says nothing.
            ("later", 50, "later"), ("again", 50, "again"),
        ] {
            try write(text, now + time)
            #expect(try await digest() == ContentDigest(hashing: found.utf8), "\(text)")
        }
    }

    @Test func `each form of reference is found, and each file has its size and digest`() async throws {
        let contents = (1...4).map { Data(repeating: UInt8($0), count: $0 * 300_000) }
        let uuids = [
            try sample.addPhoto(key: 1, content: contents[0]),
            try sample.addPhoto(key: 2, content: contents[1], terminated: false),
            try sample.addPhoto(key: 3, content: contents[2], uuid: UUID().uuidString.lowercased()),
            try sample.addPhoto(key: 4, content: contents[3], tag: 3),
        ]
        try sample.add(key: 5, cell: CoreDataSample.reference(2, uuids[0]))
        let before = try FolderListing(of: home)
        try await {
            let copy = try await copy()
            #expect(
                copy.externalFiles.map(\.file.name) == [
                    try name(uuids[0]), try name(uuids[1]), try name(uuids[2]), try name(uuids[3], .fileBacked),
                ])
            for (file, content) in zip(copy.externalFiles, contents) {
                #expect(file.file.size == Int64(content.count))
                #expect(file.file.sha256 == ContentDigest(hashing: content))
                #expect(try Data(contentsOf: URL(fileURLWithPath: file.path.string)) == content)
                #expect(file.path.starts(with: temporary))
            }
        }()
        #expect(try FolderListing(of: home) == before)
        #expect(try Folder.names(in: temporary) == [])
    }

    @Test func `a cell that merely looks like a reference is none`() async throws {
        let uuid = UUID().uuidString
        let cells: [Data?] = [
            nil, Data(), Data([2]), Data([1] + Array(uuid.utf8) + [0]), Data([4] + Array(uuid.utf8) + [0]),
            Data([2] + Array(uuid.utf8) + [1]), Data([2] + Array(uuid.utf8) + [0, 0]),
            Data([2] + Array(uuid.dropLast().utf8) + [0]), Data([2] + Array(uuid.utf8.dropLast()) + [0x2f, 0]),
            Data([2] + Array("../../../../../../../etc/passwd/a/b/".utf8) + [0]),
            Data([2] + [UInt8](repeating: 0xff, count: 36) + [0]), Data([2] + Array(uuid.utf8) + [0]).dropFirst(),
        ]
        for (key, cell) in cells.enumerated() { try sample.add(key: key, cell: cell) }
        // A text is no blob, and a table without Z_PK no entity.
        try TestStore.make(
            at: sample.path,
            sql: """
                UPDATE ZPHOTO SET ZTHUMB = char(2) || '\(uuid)' || char(0);
                CREATE TABLE ZOTHER(ZDATA BLOB); INSERT INTO ZOTHER VALUES (CAST(char(2) || '\(uuid)' AS BLOB));
                """)
        let copy = try await copy()
        #expect(copy.externalFiles.isEmpty)
        #expect(copy.missingExternalFiles == [])
    }

    @Test func `files on another file system are copied`() async throws {
        let memory = FilePath("/dev/shm").appending("test-of-ship-store-\(UUID().uuidString)")
        guard (try? PlatformCalls.makeFolder(memory)) != nil else { return }
        defer { try? Folder.removeTree(at: memory) }
        let content = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let uuid = try sample.addPhoto(key: 1, content: content)
        try await {
            let copy = try await copy(in: memory)
            let file = try #require(copy.externalFiles.first)
            let status = try PlatformCalls.status(of: file.path)
            #expect(try status.device != PlatformCalls.status(of: sample.file("_EXTERNAL_DATA", uuid)).device)
            #expect(status.permissions == .ownerReadWrite)
            #expect(file.file.size == Int64(content.count))
            #expect(file.file.sha256 == ContentDigest(hashing: content))
        }()
        #expect(try Folder.names(in: memory) == [])
    }

    @Test func `a missing file is named with its table and row`() async throws {
        try sample.addPhoto(key: 1, content: Data("there".utf8))
        let uuid = try sample.addPhoto(key: 69, content: nil)
        await #expect(
            throws: SnapshotError.missingExternalFile(
                try reference(uuid, row: 69), path: sample.file("_EXTERNAL_DATA", uuid))
        ) { _ = try await copy() }
        #expect(try Folder.names(in: temporary) == [])
    }

    @Test func `missing files may be left out, and are listed`() async throws {
        let there = try sample.addPhoto(key: 1, content: Data("there".utf8))
        let missing = try sample.addPhoto(key: 69, content: nil)
        let copy = try await copy(allowingMissing: true)
        #expect(copy.externalFiles.map(\.file.name) == [try name(there)])
        #expect(copy.missingExternalFiles == [try name(missing)])
    }

    @Test func `a store without its support folder misses its files`() async throws {
        let uuid = try sample.addPhoto(key: 1, content: Data("there".utf8))
        try Folder.removeTree(at: sample.supportFolder)
        #expect(try await copy(allowingMissing: true).missingExternalFiles == [try name(uuid)])
    }

    @Test(arguments: [false, true])
    func `a symbolic link is not followed`(allowingMissing: Bool) async throws {
        let secret = scratch.path.appending("secret")
        try Data("secret".utf8).write(to: URL(fileURLWithPath: secret.string))
        let uuid = try sample.addPhoto(key: 1, content: nil)
        let path = sample.file("_EXTERNAL_DATA", uuid)
        try PlatformCalls.symbolicLink(at: path, to: secret)
        await #expect(throws: SnapshotError.strangeExternalFile(path)) {
            _ = try await copy(allowingMissing: allowingMissing)
        }
        // Nor where the file has to be copied.
        await #expect(throws: SnapshotError.strangeExternalFile(path)) {
            _ = try await copy(allowingMissing: allowingMissing, in: "/dev/shm")
        }
    }

    @Test(arguments: ["", "_EXTERNAL_DATA"])
    func `a folder that is a symbolic link is not followed`(folder: String) async throws {
        let uuid = try sample.addPhoto(key: 1, content: Data("there".utf8))
        let real = folder.isEmpty ? sample.supportFolder : sample.supportFolder.appending(folder)
        try PlatformCalls.rename(real, to: scratch.path.appending("elsewhere"))
        try PlatformCalls.symbolicLink(at: real, to: scratch.path.appending("elsewhere"))
        await #expect { _ = try await copy(allowingMissing: true) } throws: { error in
            guard case .file(let error) = error as? SnapshotError else { return false }
            return error.path == real && error.errno == .notDirectory
        }
        _ = uuid
    }

    @Test func `a folder in place of a file is an error`() async throws {
        let uuid = try sample.addPhoto(key: 1, content: nil)
        let path = sample.file("_EXTERNAL_DATA", uuid)
        try PlatformCalls.makeFolder(path)
        await #expect(throws: SnapshotError.strangeExternalFile(path)) { _ = try await copy(allowingMissing: true) }
    }

    @Test func `too many files are an error`() async throws {
        let number = Limits.externalFiles + 1
        try TestStore.make(
            at: sample.path,
            sql: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(number))
                INSERT INTO ZPHOTO SELECT i, 2, 1, 1,
                    CAST(char(2) || printf('%08X-0000-4000-8000-000000000000', i) || char(0) AS BLOB), NULL FROM n;
                """)
        await #expect(throws: SnapshotError.tooManyExternalFiles(limit: Limits.externalFiles)) {
            _ = try await copy(allowingMissing: true)
        }
    }

    /// Replaces the photo as the app does: the new file, the commit, then the old file goes.
    private func replacePhoto(in app: DatabaseQueue) throws {
        let uuid = UUID().uuidString
        let file = sample.file("_EXTERNAL_DATA", uuid)
        try Data(uuid.utf8).write(to: URL(fileURLWithPath: file.string))
        try app.writeWithoutTransaction { database in
            try database.execute(
                sql: "UPDATE ZPHOTO SET ZDATA = ?", arguments: [CoreDataSample.reference(2, uuid)])
        }
        for name in try Folder.names(in: file.removingLastComponent()) where name != uuid {
            try PlatformCalls.removeFile(sample.file("_EXTERNAL_DATA", name))
        }
    }

    private var isCopyUnderWay: Bool {
        let copy = (try? Folder.names(in: temporary))?.first.map { temporary.appending($0).appending("1/copy.sqlite") }
        return copy.flatMap { try? PlatformCalls.status(of: $0).size } ?? 0 > 0
    }

    @Test func `a file that the app removes meanwhile is in the copy, or it is another copy`() async throws {
        try sample.addPhoto(key: 1, content: Data("first".utf8))
        // Some weight, so that there is time between the copy and the look at the files.
        try TestStore.make(
            at: sample.path,
            sql: """
                WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                INSERT INTO ZRECIPE SELECT i, 1, 1, 'r', randomblob(900) FROM n
                """)
        let app = try TestStore.open(sample.path, preparation: "PRAGMA synchronous = OFF")
        var seen: Set<ExternalFileName> = []
        for _ in 1...30 {
            // Once a copy: the store is at rest when the next take begins.
            let replacing = Task.detached { [self] in
                while !isCopyUnderWay { await Task.yield() }
                try replacePhoto(in: app)
            }
            let copy = try await copy()
            try await replacing.value
            let file = try #require(copy.externalFiles.first)
            #expect(copy.missingExternalFiles == [])
            #expect(try ContentDigest(ofFile: file.path) == file.file.sha256)
            seen.insert(file.file.name)
        }
        #expect(seen.count > 1)
        try app.close()
    }
}
