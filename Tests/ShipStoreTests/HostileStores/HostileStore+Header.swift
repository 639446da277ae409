extension HostileStore {
    /// Lies in the first 100 bytes, and about the freelist to which they lead.
    static let headers: [HostileStore] = [
        .bytes("another magic", .refused) { $0.bytes[3] = 0x49 },
        .bytes("pages of 768 bytes", .refused) { $0.put(768, 2, at: 16) },
        .bytes("pages of 0 bytes", .refused) { $0.put(0, 2, at: 16) },
        .bytes("pages said to be twice as large", .refused) { store in
            if store.pageCount % 2 == 1 { store.bytes += [UInt8](repeating: 0, count: 1024) }
            store.put(2048, 2, at: 16)
            store.setPageCount(store.pageCount / 2)
        },
        .bytes("a write-ahead log", .refused) { $0.put(0x0202, 2, at: 18) },
        .bytes("a write-ahead log to readers alone", .refused) { $0.put(0x0102, 2, at: 18) },
        .bytes("a format of the future", .refused) { $0.put(0x0303, 2, at: 18) },
        .bytes("255 reserved bytes that are not reserved", .refused) { $0.bytes[20] = 255 },
        .bytes("1 reserved byte that is not reserved", .refused) { $0.bytes[20] = 1 },
        .bytes("other payload fractions", .refused) { $0.put(0x414141, 3, at: 21) },
        .bytes("more pages than there are", .refused) { $0.setPageCount($0.pageCount + 1) },
        .bytes("2^32 - 1 pages", .refused) { $0.setPageCount(0xffff_ffff) },
        .bytes("fewer pages than there are", .refused) { $0.setPageCount($0.pageCount - 1) },
        .bytes("no pages", .refused) { $0.setPageCount(0) },
        .bytes("half of its pages", .refused) { store in
            store.bytes.removeSubrange((store.pageCount / 2 * 1024)...)
            store.setPageCount(store.pageCount)
        },
        .bytes("one page, the others are gone", .refused) { store in
            store.bytes.removeSubrange(1024...)
            store.setPageCount(1)
        },
        .bytes("a page of nothing", .refused) { $0.bytes = [UInt8](repeating: 0, count: 1024) },
        .bytes("a page that nothing leads to", .refused) { store in
            store.bytes += [UInt8](repeating: 0xa5, count: 1024)
            store.setPageCount(store.pageCount)
        },
        .bytes("free pages that are not there", .refused) { $0.put(5, 4, at: 36) },
        .bytes("2^32 - 1 free pages", .refused) { store in
            store.put(4, 4, at: 32)
            store.put(0xffff_ffff, 4, at: 36)
        },
        .bytes("a freelist beyond the end", .refused) { store in
            store.put(0x7fff_ffff, 4, at: 32)
            store.put(1, 4, at: 36)
        },
        .bytes("a freelist that leads to itself", .refused) { store in
            store.bytes += [UInt8](repeating: 0, count: 1024)
            let trunk = store.pageCount
            store.put(trunk, 4, at: (trunk - 1) * 1024)
            store.setPageCount(trunk)
            store.put(trunk, 4, at: 32)
            store.put(1000, 4, at: 36)
        },
        .bytes("a freelist page of 2^32 - 1 leaves", .refused) { store in
            store.bytes += [UInt8](repeating: 0, count: 1024)
            let trunk = store.pageCount
            store.put(0xffff_ffff, 4, at: (trunk - 1) * 1024 + 4)
            store.setPageCount(trunk)
            store.put(trunk, 4, at: 32)
            store.put(1, 4, at: 36)
        },
        .bytes("a table among the free pages", .refused) { store in
            store.put(2, 4, at: 32)
            store.put(1, 4, at: 36)
        },
        .bytes("a schema format of the future", .refused) { $0.put(5, 4, at: 44) },
        .bytes("a cache of 2^31 pages", .harmless) { $0.put(0x7fff_ffff, 4, at: 48) },
        .bytes("an encoding of the future", .refused) { $0.put(4, 4, at: 56) },
        .bytes("text that is not UTF-16", .refused) { $0.put(2, 4, at: 56) },
        .bytes("pointer maps that are not there", .refused) { $0.put(3, 4, at: 52) },
        .bytes("incremental vacuum without pointer maps", .refused) { $0.put(1, 4, at: 64) },
        .bytes("pointer maps of rubbish", .refused, preparation: "PRAGMA auto_vacuum = FULL") { store in
            for offset in 0..<1000 { store.bytes[1024 + offset] = UInt8(truncatingIfNeeded: offset * 7) }
        },
        .bytes("pointer maps that make leaves of roots", .refused, preparation: "PRAGMA auto_vacuum = FULL") { store in
            store.bytes[1024] = 5
        },
    ]
}
