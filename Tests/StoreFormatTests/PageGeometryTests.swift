import StoreFormat
import Testing

@Suite struct PageGeometryTests {
    private static func geometry(_ pageSize: Int, reserved: Int = 0) -> PageGeometry {
        PageGeometry(pageSize: pageSize, reservedBytes: reserved, hasAutoVacuum: true)
    }

    /// btree.c, ptrmapPageno, with PENDING_BYTE_PAGE of btreeInt.h.
    private static func pointerMapOfSQLite(_ page: Int, pageSize: Int, usableSize: Int) -> Int {
        guard page >= 2 else { return 0 }
        let pages = usableSize / 5 + 1
        let map = (page - 2) / pages * pages + 2
        return map == 0x4000_0000 / pageSize + 1 ? map + 1 : map
    }

    @Test(arguments: [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536], [0, 1, 32])
    func `pointer maps are where SQLite has them`(pageSize: Int, reserved: Int) {
        let geometry = Self.geometry(pageSize, reserved: reserved)
        let period = geometry.usableSize / 5 + 1
        let lockPage = 0x4000_0000 / pageSize + 1
        #expect(geometry.lockPage == UInt32(lockPage))
        for page in Array(2...(3 * period)) + Array(max(2, lockPage - 2 * period)...(lockPage + 2 * period)) {
            let found = geometry.pointerMap(of: UInt32(page))
            let expected = Self.pointerMapOfSQLite(page, pageSize: pageSize, usableSize: geometry.usableSize)
            guard Int(found.page) == expected else {
                Issue.record("page \(page): \(found.page), not \(expected)")
                return
            }
            let isMap = page == expected
            guard geometry.isSetAside(UInt32(page)) == (isMap || page == lockPage) else {
                Issue.record("page \(page)")
                return
            }
            // PTRMAP_PTROFFSET
            if page > expected, page != lockPage {
                guard found.offset == 5 * (page - expected - 1), found.offset + 5 <= geometry.usableSize else {
                    Issue.record("page \(page): offset \(found.offset)")
                    return
                }
            }
        }
    }

    @Test func `the map that falls on the lock page is the page after it`() {
        // 1,048,577 = 2 + 5115 * 205, for 1,024-byte pages.
        let geometry = Self.geometry(1024)
        #expect(geometry.lockPage == 1_048_577)
        #expect(geometry.pointerMap(of: 1_048_576) == (1_048_372, 5 * 203))
        #expect(geometry.isSetAside(1_048_577) && geometry.isSetAside(1_048_578))
        #expect(!geometry.isSetAside(1_048_579))
        #expect(geometry.pointerMap(of: 1_048_579) == (1_048_578, 0))
        #expect(geometry.pointerMap(of: 1_048_781) == (1_048_578, 5 * 202))
        #expect(geometry.pointerMap(of: 1_048_783) == (1_048_782, 0))
    }

    @Test func `without auto-vacuum only the lock page is set aside`() {
        let geometry = PageGeometry(pageSize: 65_536, reservedBytes: 0, hasAutoVacuum: false)
        #expect((1..<40_000).filter { geometry.isSetAside($0) } == [16_385])
    }

    /// By hand from FF 1.6: U = 512 has X = 477 in tables, 102 in indexes, M = 39; 508 in an overflow page.
    @Test func `so much of a payload stays in its cell`() {
        let geometry = Self.geometry(512)
        #expect([0, 1, 476, 477].map { geometry.localSize(ofPayload: $0, in: .table) } == [0, 1, 476, 477])
        // 478: 39 + (478 - 39) % 508 = 478 > 477, so 39. 547: 39 + 508 % 508 = 39.
        #expect(
            [478, 546, 547, 548, 985].map { geometry.localSize(ofPayload: $0, in: .table) } == [39, 39, 39, 40, 477])
        #expect(geometry.localSize(ofPayload: 986, in: .table) == 39)
        #expect(
            [102, 103, 546, 547, 610, 611].map { geometry.localSize(ofPayload: $0, in: .index) } == [
                102, 39, 39, 39, 102, 39,
            ])
    }
}
