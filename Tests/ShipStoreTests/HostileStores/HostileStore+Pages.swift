extension HostileStore {
    /// Pages that lie about what they hold, and about where the others are.
    static let pages: [HostileStore] = [
        .bytes("a root that is its own child", .refused) { $0.put(2, 4, at: $0.cell(0, of: 2)) },
        .bytes("a root that is its own last child", .refused) { $0.put(2, 4, at: StoreBytes.start(2) + 8) },
        .bytes("a root that is all of its own children", .refused) { store in
            for index in 0..<store.get(2, at: StoreBytes.start(2) + 3) { store.put(2, 4, at: store.cell(index, of: 2)) }
            store.put(2, 4, at: StoreBytes.start(2) + 8)
        },
        // Each of twenty levels takes all of its hundred children: nobody reads that to its end.
        .bytes("a schema whose branches lead to themselves", .refused) { store in
            store.bytes[100] = 5
            for offset in 101..<1024 { store.bytes[offset] = 0 }
            let count = 120
            store.put(count, 2, at: 103)
            store.put(1024 - 5, 2, at: 105)
            store.put(2, 4, at: 108)
            store.put(2, 4, at: 1019)
            store.bytes[1023] = 1
            for index in 0..<count { store.put(1019, 2, at: 112 + 2 * index) }
            let start = StoreBytes.start(2)
            for offset in 0..<1024 { store.bytes[start + offset] = 0 }
            store.bytes[start] = 5
            store.put(count, 2, at: start + 3)
            store.put(1019, 2, at: start + 5)
            store.put(2, 4, at: start + 8)
            for index in 0..<count { store.put(1019, 2, at: start + 12 + 2 * index) }
            store.put(2, 4, at: start + 1019)
            store.bytes[start + 1023] = 1
        },
        .bytes("a child beyond the end", .refused) { $0.put(0x00ff_ffff, 4, at: $0.cell(1, of: 2)) },
        .bytes("a child that is page 0", .refused) { $0.put(0, 4, at: $0.cell(1, of: 2)) },
        .bytes("a child of two", .refused) { $0.put($0.get(4, at: $0.cell(0, of: 2)), 4, at: $0.cell(1, of: 2)) },
        .bytes("a child that is the schema", .refused) { $0.put(1, 4, at: $0.cell(1, of: 2)) },
        .bytes("a child that is of an index", .refused) { $0.put(3, 4, at: $0.cell(1, of: 2)) },
        .bytes("an index that is its own child", .refused) { $0.put(3, 4, at: StoreBytes.start(3) + 8) },
        .bytes("a page of no kind", .refused) { $0.bytes[StoreBytes.start($0.leaf)] = 7 },
        .bytes("a leaf that says that it is an index's", .refused) { $0.bytes[StoreBytes.start($0.leaf)] = 10 },
        .bytes("65,535 cells in a page", .refused) { $0.put(0xffff, 2, at: StoreBytes.start($0.leaf) + 3) },
        .bytes("a cell beyond its page", .refused) { $0.put(0xfff0, 2, at: StoreBytes.start($0.leaf) + 8) },
        .bytes("a cell in the header of its page", .refused) { $0.put(2, 2, at: StoreBytes.start($0.leaf) + 8) },
        .bytes("cells that are all the same", .refused) { store in
            let start = StoreBytes.start(store.leaf)
            for index in 1..<store.get(2, at: start + 3) {
                store.put(store.get(2, at: start + 8), 2, at: start + 8 + 2 * index)
            }
        },
        .bytes("cells in the wrong order", .refused) { store in
            let start = StoreBytes.start(store.leaf)
            let (first, second) = (store.get(2, at: start + 8), store.get(2, at: start + 10))
            store.put(second, 2, at: start + 8)
            store.put(first, 2, at: start + 10)
        },
        .bytes("content that begins beyond its page", .refused) {
            $0.put(0xffff, 2, at: StoreBytes.start($0.leaf) + 5)
        },
        .bytes("free blocks that lead to themselves", .refused) { store in
            let start = StoreBytes.start(store.leaf)
            let place = store.get(2, at: start + 5)
            store.put(place, 2, at: start + 1)
            store.put(place, 2, at: start + place)
            store.put(4, 2, at: start + place + 2)
        },
        .bytes("200 fragmented bytes", .refused) { $0.bytes[StoreBytes.start($0.leaf) + 7] = 200 },
        .bytes("a payload of 2^63 bytes", .refused) { store in
            let cell = store.cell(0, of: store.leaf)
            for offset in 0..<9 { store.bytes[cell + offset] = 0xff }
        },
        .bytes("a payload of 2^31 - 1 bytes", .refused) { store in
            let cell = store.cell(0, of: store.leaf)
            for (offset, byte) in [0x87, 0xff, 0xff, 0xff, 0x7f, 0x01].enumerated() {
                store.bytes[cell + offset] = UInt8(byte)
            }
        },
        .bytes("a payload that goes on on the page of another", .refused) { store in
            let cell = store.cell(0, of: store.leaf)
            store.put(0xbf7f, 2, at: cell)
        },
        .bytes("a record whose header is longer than it", .refused) { store in
            store.bytes[store.cell(1, of: store.leaf) + 2] = 0x7f
        },
        .bytes("a chain that leads to itself", .refused) { store in
            let chain = try store.firstOfChain()
            store.put(chain, 4, at: (chain - 1) * 1024)
        },
        .bytes("a chain that ends early", .refused) { store in
            store.put(0, 4, at: (try store.firstOfChain() - 1) * 1024)
        },
        .bytes("a chain that leads beyond the end", .refused) { store in
            store.put(0x7fff_ffff, 4, at: (try store.firstOfChain() - 1) * 1024)
        },
        .bytes("a chain that leads into a table", .refused) { store in
            store.put(2, 4, at: (try store.firstOfChain() - 1) * 1024)
        },
        .bytes("an index of other rows", .refused) { store in
            // In its last leaf, the text of one entry.
            guard let page = (4...store.pageCount).last(where: { store.type($0) == 10 }) else { return }
            store.bytes[store.cell(0, of: page) + 6] ^= 0x11
        },
        .bytes("thirty levels", .refused) { store in
            let first = store.pageCount + 1
            for level in 0..<30 {
                var page = [UInt8](repeating: 0, count: 1024)
                page[0] = 5
                page[5] = 4
                let child = level == 29 ? store.leaf : first + level + 1
                for index in 0..<4 { page[8 + index] = UInt8(truncatingIfNeeded: child >> (8 * (3 - index))) }
                store.bytes += page
            }
            store.setPageCount(store.pageCount)
            store.put(first, 4, at: StoreBytes.start(2) + 8)
        },
    ]
}

extension StoreBytes {
    private struct NoChain: Error {}

    /// The first page of the chain in which the long row goes on: of those of no tree the first.
    fileprivate func firstOfChain() throws -> Int {
        guard let page = (4...pageCount).first(where: { ![2, 5, 10, 13].contains(type($0)) }) else { throw NoChain() }
        return page
    }
}
