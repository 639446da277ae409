/// Random access to the bytes of a record.
package struct RandomAccessRecord {
    /// Bytes of the record.
    package let size: Int
    let local: [UInt8]
    /// The pages of its overflow chain.
    let chain: [UInt32]
    let pages: any PageSource
    let pageSize: Int
    let overflowSize: Int

    /// Appends bytes of the record, of a range within `0..<size`.
    package func append(_ range: Range<Int>, to bytes: inout [UInt8]) throws {
        var place = range.lowerBound
        if place < local.count {
            let end = min(range.upperBound, local.count)
            bytes += local[place..<end]
            place = end
        }
        var page = [UInt8](repeating: 0, count: pageSize)
        while place < range.upperBound {
            let (index, offset) = ((place - local.count) / overflowSize, (place - local.count) % overflowSize)
            try pages.read(chain[index], into: &page)
            let count = min(range.upperBound - place, overflowSize - offset)
            bytes += page[(4 + offset)..<(4 + offset + count)]
            place += count
        }
    }
}
