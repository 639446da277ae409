import Foundation
import GRDB
import ShipProtocol
import StoreFormat
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Writes inputs to begin with, on demand: `SHIP_STORE_FUZZ_SEEDS=1 swift test --filter CorpusSeeds`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["SHIP_STORE_FUZZ_SEEDS"] != nil))
struct CorpusSeeds {
    /// What `make fuzz` gives to a target at most, in bytes.
    private static let longest = 65_536

    private static func write(_ bytes: [UInt8], _ name: String) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "corpus")
        try Data(bytes).write(to: folder.appending(path: name))
    }

    private static let stores = [
        ("table", "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (-1, 1, 'x'), (7, 1.5, x'00')"),
        (
            "index",
            """
            CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'b'), (NULL, 'A'), (2.5, 'a');
            CREATE INDEX t_a ON t (a DESC, b COLLATE NOCASE); CREATE INDEX t_b ON t (b COLLATE RTRIM) WHERE b > 'A'
            """
        ),
        (
            "keyed",
            """
            CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES (0, 7), (1, zeroblob(700));
            CREATE INDEX w_v ON w (v)
            """
        ),
        (
            "long",
            "CREATE TABLE t (a, b); INSERT INTO t VALUES (zeroblob(263000), 1); CREATE INDEX t_b ON t (b)"
        ),
        (
            "deep",
            """
            CREATE TABLE t (a TEXT PRIMARY KEY) WITHOUT ROWID; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
              WHERE i < 40) INSERT INTO t SELECT printf('%060d', i) FROM n
            """
        ),
    ]

    @Test(arguments: stores, ["NONE", "FULL"])
    func `stores, and their segments`(store: (name: String, sql: String), autoVacuum: String) throws {
        let folder = try ScratchFolder.inMemory()
        let copy = folder.path.appending("copy")
        let preparation = "PRAGMA page_size = \(store.name == "long" ? 4096 : 512); PRAGMA auto_vacuum = \(autoVacuum);"
        try TestStore.make(at: copy, sql: preparation + store.sql)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: copy.string)))
        let name = "\(store.name)-\(autoVacuum.lowercased())"
        if bytes.count <= Self.longest / 2 { try Self.write(bytes, "pages/\(name)") }

        let queue = try DatabaseQueue(path: copy.string)
        let shapes = try queue.read { try IndexShape.all(in: $0) }
        try queue.close()
        let pages = try MemoryPages(try MemoryPages.canonicalForm(of: bytes))
        let input = Input(pageSize: pages.pageSize, pageCount: pages.pageCount)
        try StoreWalk.run(over: pages, shapes: shapes) { try input.append(Self.stored(try $0.encoded(.smallest))) }
        if input.bytes.count <= Self.longest { try Self.write(input.bytes, "segments/\(name)") }
    }

    @Test(arguments: [
        ("row", "UPDATE t SET a = a + 1, b = b || ' more' WHERE id = 7"), ("delete", "DELETE FROM t WHERE id % 2 = 0"),
        ("insert", "INSERT INTO t(a, b) SELECT a, b || 'new' FROM t"), ("index", "CREATE INDEX i ON t(b)"),
        ("move", "UPDATE t SET id = 1000 - id"), ("keyed", "UPDATE w SET v = v + 1 WHERE k % 2 = 0"),
        ("long", "UPDATE l SET a = x'07' || a"), ("page", "PRAGMA page_size = 1024; VACUUM"),
    ])
    func deltas(change: (name: String, sql: String)) throws {
        let folder = try ScratchFolder.inMemory()
        let source = folder.path.appending("source")
        let queue = try DatabaseQueue(path: source.string)
        func copy(_ sql: String, _ name: String) throws -> ([UInt8], [String: IndexShape]) {
            try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            let copy = folder.path.appending(name)
            try queue.vacuum(into: copy.string)
            let shapes = try queue.read { try IndexShape.all(in: $0) }
            return (
                try MemoryPages.canonicalForm(of: Array(Data(contentsOf: URL(fileURLWithPath: copy.string)))), shapes
            )
        }
        let isLong = change.name == "long"
        let (base, _) = try copy(
            """
            PRAGMA page_size = 512; CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); CREATE INDEX t_a ON t(a);
            CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID; CREATE TABLE l (a);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
            INSERT INTO t(a, b) SELECT i % 7, 'word ' || i * i FROM n; INSERT INTO w SELECT id, a FROM t;
            INSERT INTO l VALUES (zeroblob(\(isLong ? 270_000 : 10)));
            """, "old")
        let (new, shapes) = try copy(change.sql, "new")
        let pages = try MemoryPages(new)
        let input = Input(pageSize: pages.pageSize, pageCount: min(256, pages.pageCount))
        // The zeros at the end of a base go without saying.
        input.append(isLong ? Array(base.prefix(4096)) : base)
        let encoder = DeltaEncoder(
            from: try MemoryPages(base), to: pages, shapes: shapes, effort: .smallest
        ) { MemorySpill() }
        try encoder.encode { segment in input.append(segment.bytes) }
        if input.bytes.count <= Self.longest { try Self.write(input.bytes, "delta/\(change.name)") }
    }

    @Test func `values that hold what can be taken apart`() throws {
        let content = (0..<60).flatMap { Array("word \($0 * 7919 % 97), ".utf8) }
        func stream(_ level: Int, _ wrapping: DeflateWrapping, _ content: [UInt8]) throws -> [UInt8] {
            let parameters = try #require(DeflateParameters(level: level, memoryLevel: 8, windowBits: 15))
            return try #require(DeflateRecompression(content, parameters, wrapping).value)
        }
        func list(_ value: Any) throws -> [UInt8] {
            [UInt8](try PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0))
        }
        func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
            [0, 0, UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + type.utf8 + data + [1, 2, 3, 4]
        }
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: ["name": "dill", "at": Date(timeIntervalSinceReferenceDate: 7)],
            requiringSecureCoding: false)
        let named: [UInt8] = [0x1f, 0x8b, 8, 8, 1, 2, 3, 4, 0, 255] + Array("a\0".utf8)
        let head = chunk("IHDR", [0, 0, 0, 16, 0, 0, 0, 16, 8, 0, 0, 0, 0])
        let picture =
            [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + head + chunk("tEXt", Array("a".utf8))
            + chunk("IDAT", try stream(9, .zlib, content)) + chunk("IEND", [])
        for (name, values) in [
            ("raw", [try [1] + stream(5, .raw, content), try stream(5, .raw, content) + [1]]),
            ("zlib", [try [0, 0, 1, 2] + stream(6, .zlib, content), try stream(1, .zlib, content)]),
            (
                "gzip",
                [try stream(6, .gzip(head: named), content), try [7] + stream(6, .gzip(head: named), content) + [7]]
            ),
            ("picture", [picture]), ("list", [try list(["a": 1, "b": ["c", "c"]]), Array(archive)]),
            (
                "nested",
                [try stream(5, .raw, list(["data": Data(archive), "more": Data(try stream(6, .zlib, content))]))]
            ),
        ] {
            let bytes = values.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }
            try Self.write([255] + bytes, "values/\(name)")
        }
    }

    @Test func `streams of the vectors`() throws {
        for vector in try ProtocolVector.all(.rows) {
            // All of these stores have small pages.
            guard let size = vector.number("size"), size <= 8192, size % 512 == 0 else { continue }
            let input = Input(pageSize: 512, pageCount: UInt32(size / 512))
            for section in vector.sections { input.append(section.bytes) }
            if input.bytes.count <= 4096 { try Self.write(input.bytes, "segments/\(vector.name)") }
        }
    }

    @Test func `small stores of the vectors`() throws {
        for vector in try ProtocolVector.all(.canonical) {
            guard let source = vector.bytes(labelled: "source"), source.count <= 2560 else { continue }
            try Self.write(source, "pages/\(vector.name)")
        }
    }

    @Test func `signed shipments of the vectors`() throws {
        for vector in try ProtocolVector.all(.stream) where vector.name.hasPrefix("stream_signed") {
            try Self.write(vector.bytes, "signature/\(vector.name)")
            // The frame alone, and the manifest's, without what a fuzzer would have to make good.
            guard vector.bytes.count > 21, vector.bytes[16] == FrameType.signature.rawValue else { continue }
            let header = try FrameHeader(decoding: vector.bytes[16...])
            let frames = vector.bytes.dropFirst(21)
            try Self.write([0] + frames.prefix(header.payloadLength), "signature/\(vector.name)-payload")
        }
        let manifest = try #require(try ProtocolVector.all(.manifest).first { $0.name == "manifest_counter" })
        try Self.write([1] + manifest.bytes, "signature/manifest")
    }

    @Test func `files of publications of the vectors`() throws {
        for vector in try ProtocolVector.all() where [.catalog, .head, .sealed].contains(vector.kind) {
            for section in vector.sections where vector.kind == .sealed && section.label != "key" {
                guard section.bytes.count <= 1024 else { continue }
                try Self.write([2] + section.bytes, "published/\(vector.name)-\(section.label)")
            }
            guard vector.kind != .sealed, vector.bytes.count <= 2048 else { continue }
            if let catalog = try? StoreCatalog(decoding: vector.bytes) {
                try Self.write([0] + catalog.jsonBytes, "published/\(vector.name)")
            } else if let head = try? HeadFile(decoding: vector.bytes).head() {
                let frames = head.stores.flatMap(\.steps).flatMap(\.shipment)
                try Self.write([1] + head.jsonBytes + [0] + frames, "published/\(vector.name)")
            } else {
                try Self.write([2] + vector.bytes, "published/\(vector.name)")
            }
        }
        for vector in try ProtocolVector.all(.short) {
            try Self.write([4] + vector.bytes, "published/\(vector.name)")
        }
    }

    @Test func `what peers say in the vectors`() throws {
        for vector in try ProtocolVector.all() where vector.kind == .stream || vector.kind == .dialogue {
            let byProducer = vector.sections.filter { ["producer", ""].contains($0.label) }.flatMap(\.bytes)
            if byProducer.count <= 4096 {
                try Self.write([0x80, 15] + byProducer, "frames/\(vector.name)")
                if vector.name.contains("resumed") {
                    try Self.write([0x84, 15] + byProducer, "frames/\(vector.name)-earlier")
                }
            }
            let byConsumer =
                vector.bytes(labelled: "consumer") == nil ? [] : vector.sections.filter { $0.label == "consumer" }
            let answer = byConsumer.flatMap(\.bytes)
            if !answer.isEmpty { try Self.write([0x81, 15] + answer, "frames/\(vector.name)-answer") }
        }
        for vector in try ProtocolVector.all(.manifest) where vector.bytes.count <= 4096 {
            try Self.write(vector.bytes, "manifest/\(vector.name)")
        }
    }

    @Test(arguments: [
        "Recipes", "a-wal-b", "drywal", "x-journal", "..", "_FBF", "1F0C5D3A-6B7E-4C28-8E21-90AB34CD56EF",
        "2026-11-20T19:04:05Z", "737d0b761f6404b81ca26887127271cf6761debcbaa4338d714f210bd58ad08b",
        "Rezepte\u{e4}.sqlite",
    ])
    func names(name: String) throws {
        try Self.write(Array(name.utf8), "names/\(name == ".." ? "dots" : name.filter { $0.isASCII })")
    }

    /// A segment that is not deflated, so that a fuzzer sees what is in it.
    private static func stored(_ segment: [UInt8]) throws -> [UInt8] {
        guard segment.first == 1 else { return segment }
        var place = 1
        var size = 0
        repeat {
            size |= Int(segment[place] & 0x7F) << (7 * (place - 1))
            place += 1
        } while segment[place - 1] >= 0x80
        return [0] + (try Deflate.bytes(ofRaw: segment[place...], size: size))
    }

    /// An input of `SegmentsTarget`.
    private final class Input {
        private(set) var bytes: [UInt8]

        init(pageSize: Int, pageCount: UInt32) {
            bytes = [UInt8((pageSize / 512).trailingZeroBitCount), UInt8(max(1, pageCount) - 1)]
        }

        func append(_ segment: [UInt8]) {
            bytes += [16, 8, 0].map { UInt8(truncatingIfNeeded: segment.count >> $0) } + segment
        }
    }
}
