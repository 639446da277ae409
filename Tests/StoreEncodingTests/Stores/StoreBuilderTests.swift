import StoreFormat
import SystemPackage
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Streams that break a rule of `Protocol/COLUMNS.md` section 1.
@Suite struct StoreBuilderTests {
    private typealias Element = SegmentContent.Element

    private static let small = Result { try WalkedStore(MadeStore(.hostile, pageSize: 512)) }

    /// Where the items of the small store are: settings, the rows of the schema, then those of the trees.
    private static func tags(_ store: WalkedStore) -> [(tag: ItemTag, index: Int)] {
        var tags: [(ItemTag, Int)] = []
        var index = 0
        let elements = store.elements
        while index < elements.count, case .number(let number) = elements[index],
            let tag = ItemTag(rawValue: number)
        {
            tags.append((tag, index))
            switch tag {
            case .settings: index += 11
            case .rows, .chunk: index += 2
            case .longRow: index += 3
            case .table, .entries, .later, .leaves, .end: index += 1
            case .derived:
                guard case .number(let count) = elements[index + 1] else { return tags }
                index += 2 + Int(count)
            }
        }
        return tags
    }

    private static func isDamaged(
        _ elements: [Element], of store: WalkedStore, pageSize: Int? = nil, pageCount: UInt32? = nil
    ) -> Bool {
        do {
            _ = try store.built(from: elements, pageSize: pageSize, pageCount: pageCount)
            return false
        } catch CompressionError.damaged {
            return true
        } catch {
            Issue.record("\(error)")
            return false
        }
    }

    @Test func `the stream of a store builds it`() throws {
        let store = try Self.small.get()
        #expect(try store.built(from: store.elements).bytes == store.bytes)
        #expect(Self.tags(store).map(\.tag) == [.settings, .rows, .table, .rows, .derived, .entries, .rows, .end])
    }

    @Test func `a stream is complete with its end alone`() throws {
        let store = try Self.small.get()
        #expect(throws: WalkedStore.Incomplete.self) { try store.built(from: store.elements.dropLast()) }
        for more in [store.elements, [.number(ItemTag.end.rawValue)], [.number(ItemTag.table.rawValue)]] {
            #expect(Self.isDamaged(store.elements + more, of: store))
        }
    }

    @Test func `items out of order, missing or twice are damage`() throws {
        let store = try Self.small.get()
        let (elements, tags) = (store.elements, Self.tags(store))
        let bounds = tags.map(\.index) + [elements.count]
        for item in tags.indices.dropLast() {
            let whole = Array(elements[bounds[item]..<bounds[item + 1]])
            let rest = elements[..<bounds[item]] + elements[bounds[item + 1]...]
            if tags[item].tag != .rows { #expect(Self.isDamaged(Array(rest), of: store), "without \(tags[item])") }
            #expect(
                Self.isDamaged(Array(elements[..<bounds[item + 1]] + whole + elements[bounds[item + 1]...]), of: store),
                "twice \(tags[item])")
            let after = bounds[item + 1]
            let next = Array(elements[after..<bounds[item + 2]])
            let swapped = Array(elements[..<bounds[item]]) + next + whole + elements[bounds[item + 2]...]
            #expect(Self.isDamaged(swapped, of: store), "\(tags[item]) after the next")
        }
    }

    @Test(arguments: [8, 9, 255, UInt64.max])
    func `an unknown tag is damage`(tag: UInt64) throws {
        let store = try Self.small.get()
        for place in Self.tags(store) {
            var elements = store.elements
            elements.insert(.number(tag), at: place.index)
            #expect(Self.isDamaged(elements, of: store))
        }
    }

    @Test(arguments: [
        (1, [0, 1, 511, 513, 1024, 131_072, 1 << 32, .max]), (2, [33, 256, .max]), (3, [5, .max]), (5, [2, .max]),
        (6, [4, .max]), (4, [1 << 32]), (7, [1 << 32]), (8, [1 << 32]), (9, [1 << 32]), (10, [0, 2, 4, 65_537, .max]),
    ])
    func `settings that make no header are damage`(place: Int, numbers: [UInt64]) throws {
        let store = try Self.small.get()
        for number in numbers {
            var elements = store.elements
            elements[place] = .number(number)
            #expect(Self.isDamaged(elements, of: store), "\(place): \(number)")
        }
    }

    @Test func `another size than that of the manifest is damage`() throws {
        let store = try Self.small.get()
        #expect(Self.isDamaged(store.elements, of: store, pageSize: 1024))
        for count in [0, 1, 3, 4, store.pageCount - 1, store.pageCount + 1, .max] {
            #expect(Self.isDamaged(store.elements, of: store, pageCount: count), "\(count) pages")
        }
    }

    @Test func `a tree of the wrong kind is damage`() throws {
        let store = try Self.small.get()
        for place in Self.tags(store) {
            var elements = store.elements
            switch place.tag {
            case .table: elements[place.index] = .number(ItemTag.entries.rawValue)
            case .entries: elements[place.index] = .number(ItemTag.table.rawValue)
            case .derived:
                let empty: [Element] = [.number(ItemTag.table.rawValue)]
                elements.replaceSubrange(place.index..<(place.index + 4), with: empty)
            default: continue
            }
            #expect(Self.isDamaged(elements, of: store), "\(place.tag)")
        }
    }

    /// The small store's index is over the value 1 of its table, and the rowid.
    @Test(arguments: [
        [0], [1, 3 << 3], [1, 4 << 3], [1, 5 << 3], [1, 32_767 << 3], [1, 32_768 << 3], [1, UInt64.max],
        [1, 2 << 3 | 6],
        [32_768], [.max],
    ])
    func `a derived index that does not follow from its table is damage`(shape: [UInt64]) throws {
        let store = try Self.small.get()
        let place = try #require(Self.tags(store).first { $0.tag == .derived }).index
        guard case .number(2) = store.elements[place + 1] else {
            Issue.record("another shape")
            return
        }
        var elements = store.elements
        elements.replaceSubrange((place + 1)..<(place + 4), with: shape.map { .number($0) })
        // The value 2 is there: a sound stream, of another store.
        if shape == [1, 3 << 3] {
            #expect(throws: Never.self) { try store.built(from: elements) }
        } else {
            #expect(Self.isDamaged(elements, of: store))
        }
    }

    @Test func `rowids for an index of a table that has none are damage`() throws {
        let folder = try ScratchFolder.inMemory()
        let copy = folder.path.appending("copy")
        let sql = """
            PRAGMA page_size = 512; CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID;
            INSERT INTO w VALUES (0, 7), (1, 8), (2, 9); CREATE INDEX w_v ON w(v)
            """
        try TestStore.make(at: copy, sql: sql)
        let store = try WalkedStore(of: copy)
        let place = try #require(Self.tags(store).first { $0.tag == .derived }).index
        var elements = store.elements
        elements[place + 3] = .number(0)
        let isDamaged = Self.isDamaged(elements, of: store)
        #expect(isDamaged)
    }

    @Test func `entries for which the file has no room are not sorted`() throws {
        let store = try WalkedStore(MadeStore(.addedColumns))
        let place = try #require(Self.tags(store).first { $0.tag == .derived }).index
        var elements = store.elements
        let parts = 10_900
        elements.replaceSubrange(
            (place + 1)..<(place + 4), with: [.number(UInt64(parts))] + Array(repeating: .number(0), count: parts))
        // 601 entries of up to 32,703 bytes are more than a run.
        var content = SegmentContent(.modern)
        content.elements = elements
        let target = SpillingPages(MemoryPages(pageSize: store.pageSize, mostPages: store.pageCount))
        let builder = StoreBuilder(pageSize: store.pageSize, pageCount: store.pageCount) { _ in target }
        #expect(throws: CompressionError.damaged(.rows)) { try builder.append(try content.encoded(.fast)) }
        #expect(target.spills == 0)
    }

    @Test func `rowids that do not rise are damage`() throws {
        let store = try Self.small.get()
        for (index, element) in store.elements.enumerated() {
            guard case .rows(var group) = element, let rowids = group.rowids, rowids.count > 1 else { continue }
            var elements = store.elements
            group.rowids?[1] = rowids[0]
            elements[index] = .rows(group)
            #expect(Self.isDamaged(elements, of: store))
        }
    }

    // MARK: Long rows

    private static let long = Result { try WalkedStore(MadeStore(.veryLongRows, pageSize: 4096)) }

    @Test(arguments: [-1, 1, -262_144, 262_144])
    func `a long row of another size than it says is damage`(difference: Int) throws {
        let store = try Self.long.get()
        for place in Self.tags(store).filter({ $0.tag == .longRow }).prefix(4) {
            var elements = store.elements
            guard case .number(let size) = elements[place.index + 2] else { continue }
            elements[place.index + 2] = .number(UInt64(Int(size) + difference))
            #expect(Self.isDamaged(elements, of: store))
        }
    }

    @Test(arguments: [0, 262_144, 1 << 31, .max])
    func `a long row of a size that none has is damage`(size: UInt64) throws {
        let store = try Self.long.get()
        let place = try #require(Self.tags(store).first { $0.tag == .longRow })
        var elements = store.elements
        elements[place.index + 2] = .number(size)
        #expect(Self.isDamaged(elements, of: store))
    }

    @Test func `a long row that is no canonical record is damage`() throws {
        let store = try Self.long.get()
        let place = try #require(Self.tags(store).first { $0.tag == .longRow })
        guard case .chunk(let bytes) = store.elements[place.index + 4] else {
            Issue.record("no chunk")
            return
        }
        // Header size, and the types of its values: NULL for the key, an integer, a blob, a text.
        // The integer, in 8 bytes because of its value: in 8 bytes although it is 5.
        var wide = store.elements
        let value = Int(bytes[0])
        wide[place.index + 4] = .chunk(bytes[..<value] + [0, 0, 0, 0, 0, 0, 0, 5] + bytes[(value + 8)...])
        let isDamaged = Self.isDamaged(wide, of: store)
        #expect(isDamaged)
        for (offset, byte): (Int, UInt8) in [(0, 0), (0, 1), (0, 0x80), (1, 1), (1, 11), (2, 10), (0, bytes[0] &+ 1)] {
            var elements = store.elements
            var changed = bytes
            changed[offset] = byte
            elements[place.index + 4] = .chunk(changed)
            guard changed != bytes else { continue }
            let isDamaged = Self.isDamaged(elements, of: store)
            #expect(isDamaged, "\(offset): \(byte)")
        }
    }

    @Test func `a row that goes on in anything but a chunk is damage`() throws {
        let store = try Self.long.get()
        let place = try #require(Self.tags(store).first { $0.tag == .longRow })
        for tag: ItemTag in [.rows, .longRow, .table, .end, .settings] {
            var elements = store.elements
            elements.insert(.number(tag.rawValue), at: place.index + 3)
            #expect(Self.isDamaged(elements, of: store))
        }
        var elements = store.elements
        elements.insert(contentsOf: [.number(ItemTag.chunk.rawValue), .chunk([])], at: place.index + 3)
        #expect(Self.isDamaged(elements, of: store))
    }
}
