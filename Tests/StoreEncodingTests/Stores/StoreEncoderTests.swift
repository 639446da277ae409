import ShipProtocol
import StoreFiles
import StoreFormat
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

@Suite struct StoreEncoderTests {
    /// Some 24 MB in one table.
    private struct LargeStore {
        let bytes: [UInt8]
        let pageSize: Int
        /// Of the store, that have been read by those who walk over it.
        let bytesRead = Counter()

        init() throws {
            bytes = try MemoryPages.canonicalForm(
                ofStoreMadeBy: """
                    PRAGMA page_size = 4096; CREATE TABLE t (id INTEGER PRIMARY KEY, a BLOB, b TEXT);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
                    INSERT INTO t SELECT i, zeroblob(1900), 'row ' || i FROM n;
                    """)
            pageSize = try MemoryPages(bytes).pageSize
        }

        func encoder(
            _ settings: CompressionSettings, selfCheck: Bool, cores: Int, isAwaited: Bool = true
        ) throws -> StoreEncoder {
            try StoreEncoderTests.encoder(
                of: bytes, settings, selfCheck: selfCheck, cores: cores, isAwaited: isAwaited, readingInto: bytesRead)
        }
    }

    private static func encoder(
        of bytes: [UInt8], _ settings: CompressionSettings, selfCheck: Bool = false, cores: Int = 2,
        isAwaited: Bool = true, readingInto counter: Counter
    ) throws -> StoreEncoder {
        let digest = ContentDigest(hashing: bytes)
        let pageSize = try MemoryPages(bytes).pageSize
        let facts = StoreFacts(
            size: Int64(bytes.count), sha256: digest, pageSize: pageSize, pageCount: Int64(bytes.count / pageSize),
            textEncoding: .utf8, applicationID: 0, userVersion: 0, schemaSHA256: digest)
        let store = StoreToEncode(
            path: "/", facts: facts, shapes: [:], settings: settings, selfCheck: selfCheck, cores: cores,
            isAwaited: isAwaited)
        return StoreEncoder(
            store, open: { CountedReads(of: try MemoryPages(bytes), in: counter) }, makeSpillFile: { MemorySpill() })
    }

    private final class Counter: Sendable { let value = Atomic<Int>(0) }

    private struct CountedReads: PageSource {
        let pages: MemoryPages
        let counter: Counter

        init(of pages: MemoryPages, in counter: Counter) { (self.pages, self.counter) = (pages, counter) }

        var pageCount: UInt32 { pages.pageCount }

        func read(_ number: UInt32, into page: inout [UInt8]) throws {
            counter.value.add(page.count, ordering: .relaxed)
            try pages.read(number, into: &page)
        }
    }

    private static let megabyte: Int64 = 1 << 20

    /// A megabyte where time counts goes in several segments, and is read once. Otherwise a small store goes in one, and is read once more
    /// to compare it with blocks.
    @Test(arguments: [
        (rows: 1000, level: CompressionLevel.quick, segments: 3...5), (1000, .smallest, 1...1), (200, .quick, 1...1),
        (3000, .standard, 1...1),
    ])
    func `a small store is compared with blocks, unless time counts and all cores have its rows to do`(
        rows: Int, level: CompressionLevel, segments: ClosedRange<Int>
    ) async throws {
        let bytes = try MemoryPages.canonicalForm(
            ofStoreMadeBy: """
                CREATE TABLE t (id INTEGER PRIMARY KEY, a BLOB);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                INSERT INTO t SELECT i, randomblob(1000) FROM n;
                """)
        let counter = Counter()
        let encoder = try Self.encoder(of: bytes, CompressionSettings(level), readingInto: counter)
        var count = 0
        try await encoder.encode { _ in count += 1 }
        #expect(segments.contains(count))
        let reads = Double(counter.value.load(ordering: .relaxed)) / Double(bytes.count)
        #expect(count == 1 ? reads > 1.9 : reads < 1.5, "\(reads)")
    }

    @Test func `in a small store rows are found again in another table, where bytes count`() async throws {
        // Keys of 40 bytes, shorter than what is found in an earlier segment: 1.3 MB of rows.
        let bytes = try MemoryPages.canonicalForm(
            ofStoreMadeBy: """
                CREATE TABLE a (k BLOB); CREATE TABLE b (k BLOB);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 16000)
                INSERT INTO a SELECT randomblob(40) FROM n;
                INSERT INTO b SELECT k FROM a ORDER BY k;
                """)
        var size = 0
        try await Self.encoder(of: bytes, CompressionSettings(.smallest), isAwaited: false, readingInto: Counter())
            .encode { size += $0.bytes.count }
        #expect(size < 800_000)
    }

    @Test func `a large store begins with a smaller segment into a file`() async throws {
        var sizes: [Int64] = []
        try await LargeStore().encoder(CompressionSettings(.smallest), selfCheck: false, cores: 2, isAwaited: false)
            .encode { sizes.append($0.storeBytes) }
        #expect(sizes[0] < 3 * Self.megabyte / 2)
        #expect(sizes[1..<5].allSatisfy { $0 >= 2 * Self.megabyte })
    }

    @Test(arguments: [1, 2, 4])
    func `segments are large for as long as the link is slow, and come back as they were`(cores: Int) async throws {
        let store = try LargeStore()
        let settings = CompressionSettings(.smallest)
        var (sizes, segments) = ([Int64](), [[UInt8]]())
        try await store.encoder(settings, selfCheck: true, cores: cores).encode { segment in
            sizes.append(segment.storeBytes)
            segments.append(segment.bytes)
            if sizes.count == 5 { settings.set(.fastest) }
        }
        #expect(sizes[0] < Self.megabyte && sizes[1] < 2 * Self.megabyte)
        #expect(sizes[2..<5].allSatisfy { $0 >= 2 * Self.megabyte })
        // One is under way by then.
        #expect(sizes.dropFirst(5 + 1).allSatisfy { $0 < 3 * Self.megabyte / 2 })
        #expect(sizes.count > 12)
        let pages = MemoryPages(pageSize: store.pageSize)
        let builder = StoreBuilder(
            pageSize: store.pageSize, pageCount: UInt32(store.bytes.count / store.pageSize)
        ) { _ in pages }
        for segment in segments { try builder.append(segment) }
        #expect(pages.bytes == store.bytes)
    }

    @Test func `on a slow link no more is read ahead than there is memory for`() async throws {
        let store = try LargeStore()
        var sent: Int64 = 0
        try await store.encoder(CompressionSettings(.smallest), selfCheck: false, cores: 4).encode { segment in
            sent += segment.storeBytes
            // All that may be under way is let finish before it is counted.
            try await Task.sleep(for: .milliseconds(sent < 12 * Self.megabyte ? 50 : 0))
            let ahead = Int64(store.bytesRead.value.load(ordering: .relaxed)) - sent
            // Of one, of 2 MiB of rows and what their pages have beside them.
            #expect(ahead < 5 * Self.megabyte / 2)
        }
        #expect(sent == Int64(store.bytes.count))
    }

    @Test func `where the link is on trial segments begin small, and grow as it turns out to be slow`() async throws {
        let store = try LargeStore()
        let settings = CompressionSettings(.fastest, isOnTrial: true)
        var sizes: [Int64] = []
        try await store.encoder(settings, selfCheck: true, cores: 2).encode { segment in
            sizes.append(segment.storeBytes)
            if sizes.count == 3 { settings.set(.smallest) }
        }
        #expect(sizes[0] < Self.megabyte / 4 && sizes[1] < Self.megabyte / 2 && sizes[2] < Self.megabyte)
        #expect(sizes.contains { $0 >= 2 * Self.megabyte })
        #expect(sizes.reduce(0, +) == Int64(store.bytes.count))
    }
}
