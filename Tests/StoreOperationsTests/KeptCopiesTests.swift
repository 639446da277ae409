import Foundation
import ShipProtocol
import StoreFiles
import StoreOperations
import SystemPackage
import TestSupport
import Testing

@Suite struct KeptCopiesTests {
    private let scratch: ScratchFolder
    private let kept: KeptCopies
    private let store: FilePath

    init() throws {
        scratch = try ScratchFolder()
        kept = KeptCopies(in: scratch.path.appending("kept"))
        store = scratch.path.appending("store")
        try OpenFile.creating(store).write(Array(repeating: 7, count: 4096))
    }

    private func keep(
        _ name: String, at time: String, tags: [String] = [], identity: ForeignText? = nil,
        of original: FilePath? = nil,
        schema: UInt8 = 0, damage: ForeignText? = nil
    ) throws -> KeptCopy {
        let sha256 = try ContentDigest(ofFile: store)
        let pairs = try tags.map { try CopyTag($0).pair }
        let manifest = Manifest(
            name: try #require(StoreName(name)), createdAt: try #require(Timestamp(time)),
            producer: Manifest.Software(software: "test", sqlite: "3"),
            store: StoreFacts(
                size: 4096, sha256: sha256, pageSize: 4096, pageCount: 1, textEncoding: .utf8, applicationID: 0,
                userVersion: 0, schemaSHA256: try schemaDigest(schema)), identity: identity,
            metadata: Dictionary(uniqueKeysWithValues: pairs.map { ($0.key, ForeignText($0.value)) }))
        // The store is given away each time.
        let given = scratch.path.appending("given")
        try FileManager.default.copyItem(atPath: store.string, toPath: given.string)
        defer { try? PlatformCalls.removeFile(given) }
        return try kept.keep(
            manifest, store: given, files: [], of: original ?? FilePath("/stores/\(name).sqlite"), damage: damage,
            BusyHandler(busyTimeout: .seconds(5)))
    }

    /// Of any schema.
    private func schemaDigest(_ number: UInt8) throws -> ContentDigest {
        let path = scratch.path.appending("schema-\(number)")
        if (try? PlatformCalls.status(of: path)) == nil { try OpenFile.creating(path).write([number]) }
        return try ContentDigest(ofFile: path)
    }

    @Test func `copies of one second have numbers, and come in their order`() throws {
        let time = "2026-11-20T19:04:05Z"
        let paths = try (1...11).map { _ in try keep("a-20260101T000000", at: time).path }
        #expect(paths[0].lastComponent == "a-20260101T000000-20261120T190405")
        #expect(paths[10].lastComponent == "a-20260101T000000-20261120T190405-11")
        let listing = try kept.list()
        #expect(listing.copies.map(\.path) == paths)
        #expect(listing.damaged.isEmpty)
        #expect(listing.copies.allSatisfy { $0.manifest.name.text == "a-20260101T000000" })
    }

    @Test func `a copy with any complaint is read again`() throws {
        let copy = try keep(
            "a", at: "2026-01-01T00:00:00Z", damage: ForeignText(String(repeating: "\u{1}", count: 40_000)))
        let listing = try kept.list()
        #expect(listing.copies == [copy])
        #expect(listing.damaged.isEmpty)
        #expect(listing.copies.first?.damage?.unescaped.isEmpty == false)
    }

    @Test func `whatever has a copy's name stays, and be it an empty folder`() throws {
        try Folder.make(kept.folder)
        let empty = kept.folder.appending("a-20261120T190405")
        try PlatformCalls.makeFolder(empty)
        let inode = try PlatformCalls.status(of: empty).inode
        #expect(try keep("a", at: "2026-11-20T19:04:05Z").path.lastComponent == "a-20261120T190405-2")
        #expect(try PlatformCalls.status(of: empty).inode == inode)
        #expect(try Folder.names(in: empty) == [])
    }

    @Test func `files are shared with copies of the same store only`() throws {
        func inode(_ copy: KeptCopy) throws -> UInt64 { try PlatformCalls.status(of: copy.storePath).inode }
        let first = try keep("a", at: "2026-01-01T00:00:00Z", identity: "1")
        #expect(try inode(keep("a", at: "2026-01-02T00:00:00Z", identity: "1")) == inode(first))
        #expect(try inode(keep("a", at: "2026-01-03T00:00:00Z", identity: "2")) != inode(first))
        #expect(try inode(keep("b", at: "2026-01-04T00:00:00Z", identity: "1")) != inode(first))
    }

    @Test func `the file of a damaged copy is not shared`() throws {
        let first = try keep("a", at: "2026-01-01T00:00:00Z", identity: "1")
        try PlatformCalls.changeMode(of: first.storePath, to: .ownerReadWrite)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: first.storePath.string))
        try file.seek(toOffset: 100)
        try file.write(contentsOf: Data(repeating: 8, count: 100))
        try file.close()
        let copies = try (2...3).map { try keep("a", at: "2026-01-0\($0)T00:00:00Z", identity: "1") }
        for copy in copies { #expect(try ContentDigest(ofFile: copy.storePath) == copy.manifest.store.sha256) }
        // The next one has a sound sibling.
        let inodes = try copies.map { try PlatformCalls.status(of: $0.storePath).inode }
        #expect(inodes[0] == inodes[1])
    }

    @Test func `a retention policy keeps the newest of each store, the young, and those with other tags`() throws {
        for day in 1...5 { _ = try keep("a", at: "2026-01-0\(day)T00:00:00Z", tags: day == 1 ? ["x"] : []) }
        _ = try keep("b", at: "2026-01-01T00:00:00Z")
        let copies = try kept.list().copies
        let now = try #require(Timestamp("2026-01-06T00:00:00Z"))
        func days(_ policy: CopyRetention) -> [String] {
            policy.expired(of: copies, at: now).map {
                String($0.manifest.name.text + $0.manifest.createdAt.text.prefix(10).suffix(2))
            }
        }
        #expect(days(CopyRetention(keeping: 2)) == ["a02", "a03"])
        #expect(days(CopyRetention(keeping: 0)) == ["a02", "a03", "a04", "a05", "b01"])
        #expect(days(CopyRetention(keeping: 1, for: .seconds(3 * 86_400))) == ["a02"])
        #expect(days(CopyRetention(keeping: 0, tagged: try CopyTag("x"))) == ["a01"])
        #expect(days(CopyRetention(keeping: -3)).count == 5)
        #expect(try kept.list().newest(tagged: try CopyTag("x"))?.manifest.createdAt.text == "2026-01-01T00:00:00Z")
    }

    /// The paths of what a policy would remove, as the numbers of the copies, from 1.
    private func expired(_ policy: CopyRetention, of copies: [KeptCopy]) throws -> [Int] {
        let now = try #require(Timestamp("2027-01-01T00:00:00Z"))
        let expired = policy.expired(of: try kept.list().copies, at: now).map(\.path)
        return copies.enumerated().filter { expired.contains($1.path) }.map { $0.offset + 1 }
    }

    @Test func `copies of one identity are of one store wherever it was, and of another identity never`() throws {
        let copies = [
            try keep("Model", at: "2026-01-01T00:00:00Z", identity: "1", of: "/a/Model.sqlite"),
            try keep("Model", at: "2026-01-02T00:00:00Z", identity: "2", of: "/b/Model.sqlite"),
            try keep("Model", at: "2026-01-03T00:00:00Z", identity: "1", of: "/moved/Model.sqlite"),
            try keep("Double", at: "2026-01-04T00:00:00Z", identity: "1", of: "/a/Double.sqlite"),
        ]
        #expect(try expired(CopyRetention(keeping: 1), of: copies) == [1])
    }

    @Test func `without identities the path counts`() throws {
        let copies = [
            try keep("Model", at: "2026-01-01T00:00:00Z", of: "/a/Model.sqlite", schema: 1),
            try keep("Model", at: "2026-01-02T00:00:00Z", of: "/b/Model.sqlite", schema: 1),
            // The app was updated meanwhile.
            try keep("Model", at: "2026-01-03T00:00:00Z", of: "/a/Model.sqlite", schema: 2),
        ]
        #expect(try expired(CopyRetention(keeping: 1), of: copies) == [1])
        #expect(copies[0].originalStore == "/a/Model.sqlite")
        #expect(try kept.list().copies.first { $0.path == copies[2].path }?.originalStore == "/a/Model.sqlite")
        // A path is no part of what is shipped.
        let manifest = try Data(contentsOf: URL(fileURLWithPath: copies[0].path.appending("manifest.json").string))
        #expect(!String(decoding: manifest, as: UTF8.self).contains("/a/Model"))
    }

    @Test func `the newest is the newest with the clock set back`() throws {
        let copies = [
            try keep("a", at: "2026-03-01T00:00:00Z"), try keep("a", at: "2026-04-01T00:00:00Z"),
            try keep("a", at: "2026-02-01T00:00:00Z"), try keep("a", at: "2026-01-01T00:00:00Z", tags: ["x"]),
            try keep("a", at: "2025-01-01T00:00:00Z"),
        ]
        #expect(copies.map(\.number) == [1, 2, 3, 4, 5])
        let listing = try kept.list()
        #expect(listing.copies == copies)
        #expect(listing.newest(tagged: try CopyTag("x"))?.path == copies[3].path)
        #expect(try expired(CopyRetention(keeping: 1), of: copies) == [1, 2, 3])
        // What goes makes no room for a number that others have had.
        try kept.remove(Array(copies.prefix(2)))
        #expect(try keep("a", at: "2024-01-01T00:00:00Z").number == 6)
    }

    @Test func `a record that cannot be read is told, and its copy stays`() throws {
        let copies = try (1...2).map { try keep("a", at: "2026-01-0\($0)T00:00:00Z") }
        for text in ["{}", #"{"number":0}"#, #"{"number":9007199254740992}"#, String(repeating: " ", count: 40_000)] {
            let record = copies[0].path.appending("copy.json")
            try PlatformCalls.removeFile(record)
            #expect(try kept.list().damaged.map(\.path) == [copies[0].path])
            try OpenFile.creating(record).write(Array(text.utf8))
            let listing = try kept.list()
            #expect(listing.copies.map(\.path) == [copies[1].path], "\(text.prefix(40))")
            #expect(listing.damaged.map(\.path) == [copies[0].path])
        }
        // The number that it had is not given again.
        try PlatformCalls.rename(copies[0].path.appending("copy.json"), to: copies[1].path.appending("copy.json"))
        #expect(try keep("a", at: "2026-01-03T00:00:00Z").number == 3)
    }

    private func prune(_ retention: CopyRetention, _ timeout: Duration = .seconds(5)) throws -> [KeptCopies.Removal] {
        let now = try #require(Timestamp("2027-01-01T00:00:00Z"))
        return try kept.prune(retention, of: nil, dryRun: false, at: now, BusyHandler(busyTimeout: timeout)).findings
            .map(\.removal)
    }

    @Test func `what somebody reads, and what holds something else, stays`() throws {
        let copies = try (1...4).map { try keep("a", at: "2026-01-0\($0)T00:00:00Z") }
        try OpenFile.creating(copies[0].path.appending("notes.txt")).write(Array("mine".utf8))
        // A name that leads elsewhere.
        let elsewhere = scratch.path.appending("elsewhere")
        try PlatformCalls.rename(copies[1].path, to: elsewhere)
        try PlatformCalls.symbolicLink(at: copies[1].path, to: elsewhere)
        let before = try FolderListing(of: elsewhere).entries.map(\.sha256)
        do {
            let reading = try FolderLock.take(.shared, on: copies[2].path)
            defer { withExtendedLifetime(reading) {} }
            #expect(try prune(CopyRetention(keeping: 0)) == [.altered, .altered, .held, .removed])
        }
        #expect(try kept.list().copies.map(\.path) == copies.prefix(3).map(\.path))
        #expect(try FolderListing(of: elsewhere).entries.map(\.sha256) == before)
        try PlatformCalls.removeFile(copies[0].path.appending("notes.txt"))
        #expect(try prune(CopyRetention(keeping: 0)) == [.removed, .altered, .removed])
    }

    @Test func `whoever waits for a turn gives up after its time, or when it is told to`() throws {
        let copy = try keep("a", at: "2026-01-01T00:00:00Z")
        let lock = try FolderLock.take(.exclusive, on: kept.folder)
        defer { withExtendedLifetime(lock) {} }
        let timeout = Duration.milliseconds(50)
        #expect(throws: OperationError.folderBusy(kept.folder, waited: timeout)) {
            try prune(CopyRetention(keeping: 0), timeout)
        }
        let busyHandler = BusyHandler(busyTimeout: .seconds(60))
        busyHandler.stop()
        #expect(throws: OperationError.stopped) {
            try kept.keep(copy.manifest, store: store, files: [], of: "/a.sqlite", busyHandler)
        }
        #expect(try Folder.names(in: kept.folder) == [copy.path.lastComponent?.string])
    }

    @Test(arguments: ["", "a b", "a/b", "ä", String(repeating: "a", count: 61)])
    func `what is no tag is refused`(text: String) {
        #expect(throws: OperationError.badTag(text)) { try CopyTag(text) }
    }
}
