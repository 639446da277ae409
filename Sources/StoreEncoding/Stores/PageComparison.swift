package import StoreFormat

/// A target of a `StoreBuilder` that compares each page with an existing canonical copy, and writes nothing. For a page that differs it
/// throws `EncodingFailure.selfCheckFailed`.
package final class PageComparison: StoreBuilder.Target {
    private let original: any PageSource
    private let makeSpill: () throws -> any SpillFile
    private var page: [UInt8]
    /// The pointer map page that was read last, and its number.
    private var map: (number: UInt32, bytes: [UInt8])

    package init(with original: any PageSource, pageSize: Int, makeSpillFile: @escaping () throws -> any SpillFile) {
        self.original = original
        makeSpill = makeSpillFile
        page = Array(repeating: 0, count: pageSize)
        map = (0, page)
    }

    package var pageCount: UInt32 { original.pageCount }

    package func read(_ number: UInt32, into page: inout [UInt8]) throws { try original.read(number, into: &page) }

    package func write(_ built: [UInt8], number: UInt32) throws {
        try original.read(number, into: &page)
        guard built.hasSameBytes(as: page) else { throw EncodingFailure.selfCheckFailed }
    }

    package func writePointer(_ entry: (type: UInt8, parent: UInt32), map: UInt32, offset: Int) throws {
        if map != self.map.number {
            try original.read(map, into: &self.map.bytes)
            self.map.number = map
        }
        let bytes = self.map.bytes
        let found = bytes[(offset + 1)..<(offset + 5)].reduce(0) { $0 << 8 | UInt32($1) }
        guard bytes[offset] == entry.type, found == entry.parent else { throw EncodingFailure.selfCheckFailed }
    }

    package func makeSpillFile() throws -> any SpillFile { try makeSpill() }
}
