import StoreFormat
import SystemPackage
import TestSupport
import Testing

/// Files that nobody vouches for.
@Suite struct HostilePageTests {
    private static func smallCopy(autoVacuum: String) throws -> [UInt8] {
        let folder = try ScratchFolder.inMemory()
        let store = MadeStore(.hostile, pageSize: 512, autoVacuum: autoVacuum)
        let copy = folder.path.appending("copy")
        try store.makeCopy(at: copy, in: folder)
        return try copy.content
    }

    /// Reads and writes a store, and sees to it that no page is read again and again.
    ///
    /// - Returns: `nil` if it has no canonical form.
    private static func form(of bytes: [UInt8]) throws -> [UInt8]? {
        do {
            let source = CountedPages(try MemoryPages(bytes))
            let target = MemoryPages(pageSize: try DatabaseHeader(decoding: Array(bytes.prefix(100))).pageSize)
            defer { #expect(source.reads <= 4 * Int(source.pageCount) + 8) }
            try CanonicalForm.write(of: source, to: target)
            return target.bytes
        } catch is StoreFlaw {
            return nil
        }
    }

    @Test(arguments: ["NONE", "FULL"])
    func `a copy with any byte changed has a sound canonical form, or none`(autoVacuum: String) throws {
        let copy = try Self.smallCopy(autoVacuum: autoVacuum)
        #expect(try Self.form(of: copy) != nil)
        var random = RepeatableRandom(seed: 1)
        var flaws = 0
        for offset in stride(from: 0, to: copy.count, by: Soak.isOn ? 1 : 13) {
            var changed = copy
            changed[offset] ^= UInt8.random(in: 1...255, using: &random)
            guard let form = try Self.form(of: changed) else {
                flaws += 1
                continue
            }
            if offset % 5 == 0 { #expect(try Self.form(of: form) == form, "offset \(offset)") }
        }
        #expect(flaws > 40)
    }

    @Test func `a copy that is cut off has no canonical form`() throws {
        let copy = try Self.smallCopy(autoVacuum: "NONE")
        for size in stride(from: 0, to: copy.count, by: Soak.isOn ? 1 : 97) {
            #expect(throws: StoreFlaw.self, "\(size)") { try MemoryPages.canonicalForm(of: Array(copy[..<size])) }
        }
    }

    @Test func `pages of random bytes end in a flaw`() throws {
        let copy = try Self.smallCopy(autoVacuum: "FULL")
        var random = RepeatableRandom(seed: 2)
        for page in 0..<(copy.count / 512) {
            for type: UInt8 in [2, 5, 10, 13] {
                var changed = copy
                let start = page * 512 + (page == 0 ? 100 : 0)
                changed.replaceSubrange(start..<((page + 1) * 512), with: random.bytes((page + 1) * 512 - start))
                changed[start] = type
                changed[start + 3] = 0
                _ = try Self.form(of: changed)
            }
        }
    }

    private static let table = HandmadeStore.schemaRow(name: "t", root: 2)
    private static let index = HandmadeStore.schemaRow(type: "index", name: "i", of: "t", root: 3)

    private static func flaw(_ schema: [[UInt8]], _ pages: [[UInt8]]) throws -> StoreFlaw? {
        let source = CountedPages(try MemoryPages(try HandmadeStore(schema: schema, pages: pages).bytes))
        defer { #expect(source.reads <= 4 * Int(source.pageCount) + 8) }
        do {
            try CanonicalForm.write(of: source, to: MemoryPages(pageSize: 512))
            return nil
        } catch let flaw as StoreFlaw {
            return flaw
        }
    }

    @Test func `a store that is put together by hand has a canonical form if it is sound`() throws {
        let row = HandmadeStore.cell([2, 1, 7], rowid: 5)
        let entry: [UInt8] = [5, 3, 1, 1, 7, 5]
        #expect(
            try Self.flaw(
                [Self.table, Self.index], [HandmadeStore.page(.table, [row]), HandmadeStore.page(.index, [entry])])
                == nil)
    }

    @Test func `cells that lie over each other are no cells`() throws {
        let row = HandmadeStore.cell([2, 1, 7], rowid: 5)
        let entry: [UInt8] = [5, 3, 1, 1, 7, 5]
        let pages = [HandmadeStore.page(.table, [row]), HandmadeStore.page(.index, [entry], repeated: 200)]
        #expect(try Self.flaw([Self.table, Self.index], pages) == .page(3, .cell(17)))
    }

    @Test func `a tree of more than twenty levels is too deep`() throws {
        // Each level has a leaf and the next level.
        func pages(levels: Int) -> [[UInt8]] {
            (0..<levels).map { level in HandmadeStore.page(.table, [], child: UInt32(level + 3)) }
                + [HandmadeStore.page(.table, [HandmadeStore.cell([2, 1, 7], rowid: 1)])]
        }
        #expect(try Self.flaw([Self.table], pages(levels: 21)) == .page(2, .empty))
        func chain(levels: Int) -> [[UInt8]] {
            (0..<levels).map { level in
                HandmadeStore.page(.index, [HandmadeStore.bigEndian(UInt32(level + 3)) + [2, 2, 8]], child: 2)
            } + [HandmadeStore.page(.index, [[2, 2, 8]])]
        }
        let table = HandmadeStore.schemaRow(name: "t", root: 2)
        #expect(try Self.flaw([table], chain(levels: 20)) == .page(22, .depth))
        #expect(try Self.flaw([table], chain(levels: 19)) == .page(2, .usedTwice))
    }

    @Test func `rows of the schema that share a chain are found before they are read again and again`() throws {
        // Two rows of a megabyte each, in a chain that bites its tail.
        let size = 1 << 20
        let local = PageGeometry(pageSize: 512, reservedBytes: 0, hasAutoVacuum: false).localSize(
            ofPayload: size, in: .table)
        let cells = (1...4).map { rowid in
            var cell: [UInt8] = []
            Varint.append(UInt64(size), to: &cell)
            return cell + [UInt8(rowid)] + [UInt8](repeating: 9, count: local) + HandmadeStore.bigEndian(2)
        }
        var store = try HandmadeStore(
            schema: [], pages: [HandmadeStore.bigEndian(2) + [UInt8](repeating: 9, count: 508)]
        )
        .bytes
        store.replaceSubrange(100..<512, with: HandmadeStore.page(.table, cells, offset: 100).dropFirst(100))
        let source = CountedPages(try MemoryPages(store))
        #expect(throws: StoreFlaw.page(2, .usedTwice)) {
            try CanonicalForm.write(of: source, to: MemoryPages(pageSize: 512))
        }
        #expect(source.reads < 5)
    }

    @Test(arguments: [300_000, 1 << 30, Int(Int32.max)])
    func `a long row in a chain that bites its tail is not read to its end`(size: Int) throws {
        let local = PageGeometry(pageSize: 512, reservedBytes: 0, hasAutoVacuum: false).localSize(
            ofPayload: size, in: .table)
        var cell: [UInt8] = []
        Varint.append(UInt64(size), to: &cell)
        var record: [UInt8] = []
        Varint.append(SerialType.blob(length: size - 6), to: &record)
        record = [UInt8(record.count + 1)] + record
        cell += [1] + record + [UInt8](repeating: 0, count: local - record.count) + HandmadeStore.bigEndian(3)
        let pages = [
            HandmadeStore.page(.table, [cell]), HandmadeStore.bigEndian(3) + [UInt8](repeating: 0, count: 508),
        ]
        #expect(try Self.flaw([Self.table], pages) == .page(3, .usedTwice))
    }
}
