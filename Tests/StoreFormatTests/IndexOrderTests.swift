import GRDB
import StoreFormat
import SystemPackage
import TestSupport
import Testing

/// The entries of indexes as they follow from rows, against those that SQLite made.
@Suite struct IndexOrderTests {
    /// An index over the columns a, b and c, whose places are 0, 1 and 2, and then the rowid.
    struct Case: Sendable, CustomStringConvertible {
        let columns: String
        let shape: IndexShape
        var description: String { columns }

        init(_ columns: String, _ parts: IndexShape.Part...) {
            self.columns = columns
            shape = IndexShape(parts + [IndexShape.Part(nil)])
        }
    }

    static let cases = [
        Case("a", .init(0)), Case("a DESC", .init(0, isDescending: true)),
        Case("a COLLATE NOCASE", .init(0, .noCase)),
        Case("a COLLATE NOCASE DESC", .init(0, .noCase, isDescending: true)),
        Case("a COLLATE RTRIM", .init(0, .rightTrim)),
        Case("a COLLATE RTRIM DESC", .init(0, .rightTrim, isDescending: true)),
        Case("b, a DESC", .init(1), .init(0, isDescending: true)),
        Case("b DESC, a COLLATE NOCASE", .init(1, isDescending: true), .init(0, .noCase)),
        Case("c, a, b", .init(2), .init(0), .init(1)),
    ]

    /// Values at the edges of each kind, in SQL.
    private static let values =
        MadeStore.Content.edges.map { $0 == .min ? "(-9223372036854775807 - 1)" : String($0) } + [
            "NULL", "0.0", "-0.0", "0.5", "-0.5", "1e300", "-1e300", "9e999", "-9e999", "5e-324", "9007199254740991",
            "9007199254740992", "9007199254740993", "9007199254740992.0", "9007199254740994.0", "9223372036854775808.0",
            "-9223372036854775808.0", "9223372036854774784.0", "-9223372036854777856.0", "2147483647.5", "127.0",
            "128.5",
            "''", "' '", "'  '", "'a'", "'A'", "'a '", "'a  '", "'A '", "'ab'", "'aB'", "'AB'", "'a b'", "'é'", "'É'",
            "'東京'", "'🚢'", "'abcdefgh'", "'abcdefghi'", "'abcdefgH'", "'ABCDEFGHI'", "'['", "'`'", "'{'", "'@'",
            "x''", "x'00'", "x'61'", "x'6120'", "x'ff'", "x'0000000000000000'", "x'000000000000000000'", "x'4100'",
        ]

    /// Texts with a zero byte, which NOCASE takes for their end.
    private static let textsWithZero = ["'a' || char(0)", "'a' || char(0) || 'b'", "char(0)", "'a' || char(0) || 'B '"]

    /// Makes a store with one index.
    ///
    /// - Returns: The canonical copy, and the roots of its table and of its index.
    private static func store(
        _ columns: String, _ values: [String], encoding: String = "UTF-8"
    ) throws -> (pages: MemoryPages, geometry: PageGeometry, table: UInt32, index: UInt32) {
        let folder = try ScratchFolder.inMemory()
        let queue = try DatabaseQueue(path: folder.path.appending("source").string)
        let list = values.enumerated().map { "(\($0), \($1))" }.joined(separator: ", ")
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA page_size = 1024; PRAGMA encoding = '\(encoding)'; CREATE TABLE t (a, b, c);
                    WITH v(n, x) AS (VALUES \(list)) INSERT INTO t
                      SELECT l.x, r.x, l.n * r.n % 3 FROM v l, v r WHERE l.n * 7 % 11 = r.n % 11 OR r.n % 17 = 0;
                    INSERT INTO t(rowid, a) VALUES (9223372036854775807, 'last'), (-7, 'first');
                    CREATE INDEX i ON t (\(columns))
                    """)
        }
        try queue.vacuum(into: folder.path.appending("copy").string)
        let canonical = try MemoryPages.canonicalForm(of: folder.path.appending("copy").content)
        let settings = try StoreSettings(decoding: Array(canonical.prefix(100)))
        // The only two trees: the table's row of the schema comes first.
        return (try MemoryPages(canonical), PageGeometry(settings), 2, 3)
    }

    private static func derived(
        _ shape: IndexShape, _ pages: MemoryPages, _ geometry: PageGeometry, table: UInt32, runSize: Int
    ) throws -> (entries: [[UInt8]], spills: Int) {
        var reader = try TreeReader(pages, geometry, root: table, kind: .table)
        var spills = 0
        var sorter = EntrySorter(shape, runSize: runSize) {
            spills += 1
            return MemorySpill()
        }
        var row = IndexedRow()
        var header: [UInt8] = []
        while let cell = try reader.next() {
            #expect(try row.read(cell, from: reader))
            let record = row.record
            let isWhole = try sorter.add { bytes in
                shape.appendEntry(
                    of: record.span, row.columns, rowid: cell.rowid, .modern, header: &header, to: &bytes)
            }
            #expect(isWhole)
        }
        var entries: [[UInt8]] = []
        try sorter.drain { entry in entries.append(entry.withUnsafeBufferPointer { Array($0) }) }
        return (entries, spills)
    }

    private static func entries(
        _ pages: MemoryPages, _ geometry: PageGeometry, index: UInt32
    ) throws -> [[UInt8]] {
        var reader = try TreeReader(pages, geometry, root: index, kind: .index)
        var entries: [[UInt8]] = []
        while let cell = try reader.next() {
            var entry: [UInt8] = []
            try reader.appendRecord(of: cell, to: &entry)
            entries.append(entry)
        }
        return entries
    }

    @Test(arguments: cases)
    func `entries that follow from rows are those that SQLite made, in its order`(index: Case) throws {
        let hasNoCase = index.shape.parts.contains { $0.collation == .noCase }
        let store = try Self.store(index.columns, Self.values + (hasNoCase ? [] : Self.textsWithZero))
        let expected = try Self.entries(store.pages, store.geometry, index: store.index)
        #expect(expected.count > 500)
        for runSize in [EntrySorter.runSize, 2000, 1] {
            let derived = try Self.derived(
                index.shape, store.pages, store.geometry, table: store.table, runSize: runSize)
            #expect(derived.entries == expected, "runs of \(runSize)")
            #expect(derived.spills == (runSize == EntrySorter.runSize ? 0 : 1))
        }
    }

    @Test(arguments: ["UTF-16le", "UTF-16be"], cases.filter { !$0.columns.contains("COLLATE") })
    func `entries of stores in UTF-16 come in the order of their bytes`(encoding: String, index: Case) throws {
        let store = try Self.store(index.columns, Self.values + Self.textsWithZero, encoding: encoding)
        let derived = try Self.derived(
            index.shape, store.pages, store.geometry, table: store.table, runSize: EntrySorter.runSize)
        #expect(try derived.entries == Self.entries(store.pages, store.geometry, index: store.index))
    }

    /// SQLite's NOCASE takes a zero byte for the end of a text [main.c, nocaseCollatingFunc; util.c, sqlite3StrNICmp].
    /// `Protocol/COLUMNS.md` does not, so such an index may be one that is sent.
    @Test func `texts with a zero byte are in another order under SQLite's NOCASE`() throws {
        let store = try Self.store("a COLLATE NOCASE", ["'a' || char(0) || 'c'", "'a' || char(0) || 'b'"])
        let shape = try #require(Self.cases.first { $0.columns == "a COLLATE NOCASE" }?.shape)
        let derived = try Self.derived(
            shape, store.pages, store.geometry, table: store.table, runSize: EntrySorter.runSize)
        let expected = try Self.entries(store.pages, store.geometry, index: store.index)
        #expect(derived.entries != expected)
        #expect(Set(derived.entries) == Set(expected))
    }

    /// Each run had room for the longest entry: thousands of runs took much memory.
    @Test func `many runs together are read ahead no further than few`() throws {
        let file = CountedSpill()
        var sorter = EntrySorter(IndexShape([.init(0, .binary)]), runSize: 40_000) { file }
        for number in 0..<8400 {
            _ = try sorter.add { bytes in
                bytes += [3, 0x8f, 0x57] + Array(String(10_000 + number * 7919 % 8400).utf8)
                bytes += [UInt8](repeating: 48, count: 992)
                return true
            }
        }
        var sorted = try sorter.sorted()
        #expect(file.bytesRead <= 4 * 1024 * 1024)
        var numbers: [Int?] = []
        func next() throws -> Bool {
            try sorted.next { entry in
                numbers.append(entry.withUnsafeBufferPointer { Int(String(decoding: $0[3..<8], as: UTF8.self)) })
            }
        }
        while try next() {}
        #expect(numbers == Array(10_000..<18_400))
    }

    private final class CountedSpill: SpillFile {
        private let file = MemorySpill()
        private(set) var bytesRead = 0

        func append(_ bytes: [UInt8]) throws { try file.append(bytes) }

        func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
            bytesRead += count
            return try file.read(count, at: offset)
        }
    }

    @Test(arguments: [1, 40, EntrySorter.runSize])
    func `entries that compare equal keep their order`(runSize: Int) throws {
        var sorter = EntrySorter(IndexShape([.init(0, .noCase)]), runSize: runSize) { MemorySpill() }
        let words = ["b", "A", "a", "B", "a", "A", "b"].flatMap { Array(repeating: $0, count: 9) }
        for word in words {
            _ = try sorter.add { bytes in
                bytes += [2, 15] + Array(word.utf8)
                return true
            }
        }
        var sorted: [String] = []
        try sorter.drain { sorted.append(String(decoding: [$0[2]], as: UTF8.self)) }
        #expect(sorted == words.filter { $0.lowercased() == "a" } + words.filter { $0.lowercased() == "b" })
    }
}
