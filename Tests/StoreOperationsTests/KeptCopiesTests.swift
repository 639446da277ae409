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
        _ name: String, at time: String, tags: [String] = [], identity: String? = nil
    ) throws -> KeptCopy {
        let sha256 = try FileDigest.sha256(of: store)
        let pairs = try tags.map { try CopyTag($0).pair }
        let manifest = Manifest(
            name: try #require(StoreName(name)), createdAt: try #require(Timestamp(time)),
            producer: Manifest.Software(software: "test", sqlite: "3"),
            store: StoreFacts(
                size: 4096, sha256: sha256, pageSize: 4096, pageCount: 1, textEncoding: .utf8, applicationID: 0,
                userVersion: 0, schemaSHA256: sha256), identity: identity,
            metadata: Dictionary(uniqueKeysWithValues: pairs.map { ($0.key, $0.value) }))
        // The store is given away each time.
        let given = scratch.path.appending("given")
        try FileManager.default.copyItem(atPath: store.string, toPath: given.string)
        defer { try? PlatformCalls.removeFile(given) }
        return try kept.keep(manifest, store: given, files: [])
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

    @Test func `files are shared with copies of the same store only`() throws {
        func inode(_ copy: KeptCopy) throws -> UInt64 { try PlatformCalls.status(of: copy.storePath).inode }
        let first = try keep("a", at: "2026-01-01T00:00:00Z", identity: "1")
        #expect(try inode(keep("a", at: "2026-01-02T00:00:00Z", identity: "1")) == inode(first))
        #expect(try inode(keep("a", at: "2026-01-03T00:00:00Z", identity: "2")) != inode(first))
        #expect(try inode(keep("b", at: "2026-01-04T00:00:00Z", identity: "1")) != inode(first))
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

    @Test(arguments: ["", "a b", "a/b", "ä", String(repeating: "a", count: 61)])
    func `what is no tag is refused`(text: String) {
        #expect(throws: OperationError.badTag(text)) { try CopyTag(text) }
    }
}
