import StoreFormat
import TestSupport

@testable import StoreEncoding

/// Pages in memory that say how often a file for entries was made.
final class SpillingPages: StoreBuilder.Target {
    private let pages: MemoryPages
    private(set) var spills = 0

    init(_ pages: MemoryPages) { self.pages = pages }

    var pageCount: UInt32 { pages.pageCount }

    func read(_ number: UInt32, into page: inout [UInt8]) throws { try pages.read(number, into: &page) }

    func write(_ page: [UInt8], number: UInt32) throws { try pages.write(page, number: number) }

    func writePointer(_ entry: (type: UInt8, parent: UInt32), map: UInt32, offset: Int) throws {
        try pages.writePointer(entry, map: map, offset: offset)
    }

    func makeSpillFile() throws -> any SpillFile {
        spills += 1
        return MemorySpill()
    }
}
