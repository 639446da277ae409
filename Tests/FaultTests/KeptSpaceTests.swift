import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What is to stay free on a disk stays free, whatever is written there on the way.
@Suite(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
struct KeptSpaceTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// The least that was free on a disk while something was done.
    private func leastFree<Value>(on disk: FilePath, while body: () async throws -> Value) async throws -> (
        Value, Int64
    ) {
        let watch = Task.detached {
            var least = Int64.max
            while !Task.isCancelled {
                least = min(least, try PlatformCalls.freeSpace(around: disk))
                try? await Task.sleep(for: .milliseconds(1))
            }
            return least
        }
        defer { watch.cancel() }
        let value = try await body()
        watch.cancel()
        return (value, try await watch.value)
    }

    /// All files below a folder, but for the inbox's own: a note of the failure is no shipment.
    private func files(below folder: FilePath) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.string).filter { name in
            let kind = try? PlatformCalls.status(of: folder.pushing(FilePath(name))).kind
            return kind != .folder && ![".lock", ".format", ".failed"].contains(where: name.hasSuffix)
        }.sorted()
    }

    private static let megabyte: Int64 = 1_000_000

    @Test func `what an index is sorted in is counted while a shipment comes in`() async throws {
        let store = scratch.path.appending("Keys.sqlite")
        try TestStore.make(
            at: store,
            sql: """
                CREATE TABLE key(id INTEGER PRIMARY KEY, name TEXT);
                CREATE INDEX key_by_name ON key(name);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 240000)
                INSERT INTO key SELECT i, hex(randomblob(24)) FROM n;
                VACUUM;
                """)
        let size = try PlatformCalls.status(of: store).size
        let shipment = scratch.path.appending("keys.shipment")
        try await BuiltProgram.expectSuccess(["send", store.string, "--to", shipment.string, "--level", "1"])
        try await SmallDisk.with(size: "96m") { disk in
            let free = try PlatformCalls.freeSpace(around: disk)
            func receive(leaving kept: Int64) async throws -> (ChildProgram.Outcome, Int64) {
                try await leastFree(on: disk) {
                    try await BuiltProgram.run([
                        "receive", "--into", disk.appending("inbox").string, "--from", shipment.string, "--keep-free",
                        "\(kept)",
                    ])
                }
            }
            // There is room for the store, and not for the sorting of some 14 MB beside it.
            let kept = free - size - 5 * Self.megabyte
            let (refused, least) = try await receive(leaving: kept)
            #expect(refused.status == .exited(73), Comment(rawValue: refused.stderr))
            #expect(refused.stderr.contains("bytes free, and the shipment needs"), Comment(rawValue: refused.stderr))
            #expect(least >= kept)
            #expect(try files(below: disk) == [])
            // There is room for both.
            let enough = free - size - 20 * Self.megabyte
            let (installed, lowest) = try await receive(leaving: enough)
            #expect(installed.status == .exited(0), Comment(rawValue: installed.stderr))
            #expect(lowest >= enough)
            #expect(lowest < free - size - Self.megabyte, "nothing was sorted on the disk")
        }
    }

    /// A store of three megabytes.
    private func makeStore(at path: FilePath, seed: Int = 0) throws {
        try TestStore.make(
            at: path,
            sql: """
                PRAGMA journal_mode = WAL;
                CREATE TABLE t(a BLOB); CREATE TABLE u(a);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO t SELECT randomblob(900 + \(seed)) FROM n;
                INSERT INTO u VALUES (\(seed));
                """)
    }

    /// A restore that has its room leaves so many megabytes free all the while; another one writes nothing.
    private func expectRestore(
        of copy: FilePath, over store: FilePath, on disk: FilePath, keeping kept: Int64, isPossible: Bool
    ) async throws {
        let before = try files(below: disk)
        let (outcome, least) = try await leastFree(on: disk) {
            try await BuiltProgram.run([
                "restore", copy.string, "--over", store.string, "--keep-free", "\(kept)M", "--any-identity",
            ])
        }
        #expect(least >= kept * Self.megabyte)
        #expect(outcome.status == .exited(isPossible ? 0 : 73), Comment(rawValue: outcome.stderr))
        if isPossible {
            #expect(try StoreContent(of: store) == StoreContent(of: copy))
        } else {
            #expect(outcome.stderr.contains("ship-store: hint: free some space"), Comment(rawValue: outcome.stderr))
            #expect(try files(below: disk) == before)
        }
    }

    /// Bytes that are kept free, in megabytes, of 13 that are free before: the store's pages go into its log first, and the
    /// safety copy is as large as the store.
    @Test(arguments: [(11, false), (8, false), (6, true)])
    func `a restore leaves free what it is to leave, or writes nothing`(kept: Int64, isPossible: Bool) async throws {
        let copy = scratch.path.appending("copy.sqlite")
        try makeStore(at: copy, seed: 1)
        try await SmallDisk.with(size: "16m") { disk in
            let store = disk.appending("Photos.sqlite")
            try makeStore(at: store)
            try await expectRestore(of: copy, over: store, on: disk, keeping: kept, isPossible: isPossible)
        }
    }

    /// Its copy is not given another name, although it is on the same disk.
    @Test(arguments: [(11, false), (9, true)])
    func `a store that was lost is put back only where there is room`(kept: Int64, isPossible: Bool) async throws {
        try await SmallDisk.with(size: "16m") { disk in
            let store = disk.appending("Photos.sqlite")
            try makeStore(at: store)
            let copied = try await BuiltProgram.run(["copy", store.string, "--keep-in", disk.appending("kept").string])
            let copy = try #require(copied.lines.first)
            for ending in ["", "-wal", "-shm"] { try? PlatformCalls.removeFile(FilePath("\(store)\(ending)")) }
            let before = try files(below: disk)
            let (outcome, least) = try await leastFree(on: disk) {
                try await BuiltProgram.run(["restore", copy, "--over", store.string, "--keep-free", "\(kept)M"])
            }
            #expect(least >= kept * Self.megabyte)
            #expect(outcome.status == .exited(isPossible ? 0 : 73), Comment(rawValue: outcome.stderr))
            if !isPossible { #expect(try files(below: disk) == before) }
        }
    }

    /// Four hundred tables of a page each: 0.2 MB with small pages, 26 MB with large ones, which go into the log as well.
    @Test(arguments: [(50, false), (35, false), (5, true)])
    func `what a copy grows to with larger pages is counted`(kept: Int64, isPossible: Bool) async throws {
        let copy = scratch.path.appending("copy.sqlite")
        let tables = (1...400).map { "CREATE TABLE t\($0)(a);" }.joined()
        try TestStore.make(at: copy, sql: "PRAGMA page_size = 512; \(tables)")
        try await SmallDisk.with(size: "90m") { disk in
            let store = disk.appending("Photos.sqlite")
            try TestStore.make(
                at: store, sql: "PRAGMA page_size = 65536; PRAGMA journal_mode = WAL; CREATE TABLE t1(a)")
            try await expectRestore(of: copy, over: store, on: disk, keeping: kept, isPossible: isPossible)
        }
    }

    /// External files of four megabytes are on the other disk twice for a while.
    @Test(arguments: [(11, false), (7, true)])
    func `what is moved is counted with its external files`(kept: Int64, isPossible: Bool) async throws {
        let sample = try CoreDataSample(at: scratch.path.appending("Photos.sqlite"))
        let bytes = Data((0..<2_000_000).map { _ in UInt8.random(in: 0...255) })
        for key in 1...2 { try sample.addPhoto(key: key, content: bytes) }
        try await SmallDisk.with(size: "16m") { disk in
            let (outcome, least) = try await leastFree(on: disk) {
                try await BuiltProgram.run([
                    "move", sample.path.string, "--to", disk.appending("g").string, "--keep-free", "\(kept)M",
                ])
            }
            #expect(least >= kept * Self.megabyte)
            #expect(outcome.status == .exited(isPossible ? 0 : 73), Comment(rawValue: outcome.stderr))
            if !isPossible { #expect(try files(below: disk) == []) }
        }
    }

    /// The copy of the pages and the vacuumed copy are there at once: six megabytes of fifteen.
    @Test(arguments: [(11, false), (8, true)])
    func `a profile leaves free what it is to leave, or writes nothing`(kept: Int64, isPossible: Bool) async throws {
        let store = scratch.path.appending("Photos.sqlite")
        try makeStore(at: store)
        try await SmallDisk.with(size: "16m") { disk in
            let shipment = scratch.path.appending("photos.shipment")
            let (outcome, least) = try await leastFree(on: disk) {
                try await BuiltProgram.run([
                    "send", store.string, "--to", shipment.string, "--exclude", "u", "--keep-free", "\(kept)M",
                    "--temporary-folder", disk.string,
                ])
            }
            #expect(least >= kept * Self.megabyte)
            #expect(outcome.status == .exited(isPossible ? 0 : 73), Comment(rawValue: outcome.stderr))
            #expect(try files(below: disk) == [])
        }
    }

    @Test(arguments: [(14, false), (13, true)])
    func `a copy leaves free what it is to leave`(kept: Int64, isPossible: Bool) async throws {
        let store = scratch.path.appending("Photos.sqlite")
        try makeStore(at: store)
        try await SmallDisk.with(size: "16m") { disk in
            let (outcome, least) = try await leastFree(on: disk) {
                try await BuiltProgram.run([
                    "copy", store.string, "--to", disk.string, "--keep-free", "\(kept)M",
                ])
            }
            #expect(least >= kept * Self.megabyte)
            #expect(outcome.status == .exited(isPossible ? 0 : 73), Comment(rawValue: outcome.stderr))
            #expect(try files(below: disk).isEmpty == !isPossible)
        }
    }
}
