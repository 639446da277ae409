import StoreFormat
import TestSupport
import Testing

/// Copies of trees that take whole leaves, against copies that take one row after the other.
@Suite struct LeafCopyTests {
    private enum Edit {
        case drop
        case insertion([UInt8])
    }

    private static func settings(pageSize: Int) throws -> StoreSettings {
        try StoreSettings(
            pageSize: pageSize, reservedBytes: 0, schemaFormat: 4, cacheSize: 0, hasAutoVacuum: false, textEncoding: 1,
            userVersion: 0, incrementalVacuum: 0, applicationID: 0)
    }

    /// Writes a store of one tree.
    private static func written(
        _ kind: TreeKind, _ settings: StoreSettings, _ write: (inout TreeWriter) throws -> Void
    ) throws -> [UInt8] {
        let pages = MemoryPages(pageSize: settings.pageSize)
        let store = try StoreWriter(settings, treeCount: 1, sink: pages)
        var schema = store.tree(.table, root: 1)
        try schema.end()
        var tree = store.tree(kind, root: store.roots[1])
        try write(&tree)
        try tree.end()
        try store.finish()
        return pages.bytes
    }

    /// - Parameter edits: Of rows, by their places.
    /// - Returns: The copy, and how many leaves were taken whole.
    private static func copied(
        _ bytes: [UInt8], _ kind: TreeKind, _ settings: StoreSettings, byLeaves: Bool, _ edits: [Int: Edit]
    ) throws -> (bytes: [UInt8], leaves: Int) {
        var leaves = 0
        let copy = try written(kind, settings) { tree in
            var rows = try RowCursor(try MemoryPages(bytes), PageGeometry(settings), root: 2)
            while true {
                let place = rows.position
                let most = (edits.keys.filter { $0 >= place }.min() ?? .max) - place
                if byLeaves, let leaf = try rows.takeLeaf(upTo: most) {
                    leaves += 1
                    #expect(rows.position == place + leaf.count)
                    try tree.append(leaf)
                    continue
                }
                guard let cell = try rows.next() else { break }
                var record: [UInt8] = []
                try rows.reader.appendRecord(of: cell, to: &record)
                switch edits[place] {
                case .drop: continue
                case .insertion(let other): try tree.append(other.span, rowid: cell.rowid - 1)
                case nil: break
                }
                try tree.append(record.span, rowid: cell.rowid)
            }
        }
        return (copy, leaves)
    }

    private static func record(_ pageSize: Int, hasLong: Bool, _ random: inout RepeatableRandom) -> [UInt8] {
        // Few, as a leaf that has one is not taken whole.
        let isLong = hasLong && Int.random(in: 0..<(pageSize / 4), using: &random) == 0
        let size = Int.random(in: 0...(isLong ? 3 * pageSize : 60), using: &random)
        return (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// A tree of a few dozen leaves.
    private static func tree(
        _ kind: TreeKind, _ settings: StoreSettings, _ random: inout RepeatableRandom
    ) throws -> (bytes: [UInt8], rows: Int) {
        let rows = settings.pageSize == 65_536 ? 12_000 : settings.pageSize
        let hasLong = Bool.random(using: &random)
        var rowid = Int64.random(in: -200...200, using: &random)
        let bytes = try written(kind, settings) { tree in
            for _ in 0..<rows {
                // There is a place before each row.
                rowid += Int64.random(
                    in: 2...(Int.random(in: 0..<50, using: &random) == 0 ? 1 << 40 : 3), using: &random)
                let record = record(settings.pageSize, hasLong: hasLong, &random)
                try tree.append(record.span, rowid: kind == .table ? rowid : 0)
            }
        }
        return (bytes, rows)
    }

    @Test(arguments: 1...48)
    func `a tree is the same, whether leaves or rows are copied, with other rows among them`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let kind = seed % 2 == 0 ? TreeKind.table : .index
        let settings = try Self.settings(pageSize: [512, 4096, 65_536][Int(seed / 2 % 3)])
        let (bytes, rows) = try Self.tree(kind, settings, &random)
        var edits: [Int: Edit] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let insertion = Edit.insertion(Self.record(settings.pageSize, hasLong: false, &random))
            edits[Int.random(in: 0..<rows, using: &random)] = Bool.random(using: &random) ? .drop : insertion
        }
        let byRows = try Self.copied(bytes, kind, settings, byLeaves: false, edits)
        let byLeaves = try Self.copied(bytes, kind, settings, byLeaves: true, edits)
        let isSame = byRows.bytes == byLeaves.bytes
        #expect(isSame, "seed \(seed)")
        #expect(byLeaves.leaves > 0, "seed \(seed)")
        #expect((byRows.bytes == bytes) == edits.isEmpty, "seed \(seed)")
    }

    @Test(arguments: 1...6)
    func `a damaged tree gives the same, whether leaves or rows are copied`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let kind = seed % 2 == 0 ? TreeKind.table : .index
        let settings = try Self.settings(pageSize: 512)
        let bytes = try Self.tree(kind, settings, &random).bytes
        var (copies, flaws) = (0, 0)
        for run in 0..<(Soak.isOn ? 10_000 : 300) {
            var damaged = bytes
            for _ in 0...Int.random(in: 0...2, using: &random) {
                // Often where the header and the pointers of a page are.
                let page = Int.random(in: 1..<(bytes.count / 512), using: &random)
                let place = Int.random(in: 0..<(Bool.random(using: &random) ? 40 : 512), using: &random)
                damaged[page * 512 + place] ^= UInt8.random(in: 1...255, using: &random)
            }
            let byRows = try? Self.copied(damaged, kind, settings, byLeaves: false, [:]).bytes
            let byLeaves = try? Self.copied(damaged, kind, settings, byLeaves: true, [:]).bytes
            let isSame = byRows == byLeaves
            #expect(isSame, "seed \(seed), run \(run)")
            if byRows == nil { flaws += 1 } else { copies += 1 }
        }
        #expect(copies > 20 && flaws > 20)
    }

    @Test func `bytes are the same only if each of them is`() {
        var random = RepeatableRandom(seed: 1)
        for count in 0...100 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(bytes.hasSameBytes(as: Array(bytes)))
            #expect(!bytes.hasSameBytes(as: bytes + [0]))
            for place in bytes.indices {
                var other = bytes
                other[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
                #expect(!bytes.hasSameBytes(as: other), "\(place) of \(count)")
            }
        }
    }
}
