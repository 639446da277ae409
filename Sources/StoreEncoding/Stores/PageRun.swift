import ShipCompression
import StoreFormat

/// Bytes of pages that earlier segments of the stream have filled. The runs of a segment are its dictionary, one after the other.
///
/// Source: `Protocol/COLUMNS.md` 2, "Runs".
package struct PageRun: Hashable, Sendable {
    /// The page that it begins in.
    let page: UInt32
    /// Where it begins there.
    let offset: Int
    /// Bytes; at least 1.
    var count: Int
    /// Whether its pages are overflow pages: it then goes on in the next page after the first four bytes, which name the page that follows.
    let isChain: Bool

    /// How many bytes of each page are no content.
    private var skipped: Int { isChain ? 4 : 0 }

    /// Writes runs: first where all begin, then how long they are.
    static func write(_ runs: [PageRun], to bytes: inout [UInt8]) {
        bytes.appendVarint(UInt64(runs.count))
        var last: Int64 = 0
        for run in runs {
            bytes.appendVarint((Int64(run.page) - last).zigzag)
            last = Int64(run.page)
        }
        for run in runs { bytes.appendVarint(UInt64(run.offset) << 1 | (run.isChain ? 1 : 0)) }
        for run in runs { bytes.appendVarint(UInt64(run.count - 1)) }
    }

    /// Reads what `write` wrote. It trusts no number: `PageSource.bytes` checks whether there are such bytes.
    static func read(from content: inout AreaCursor) throws(CompressionError) -> [PageRun] {
        let count = try content.count(limit: SegmentLimits.pageRuns)
        guard count > 0 else { throw .damaged(.segment) }
        let steps = try content.varints(count)
        let places = try content.varints(count)
        let lengths = try content.varints(count)
        var (page, left) = (Int64(0), SegmentLimits.pageRunBytes)
        var runs: [PageRun] = []
        for index in 0..<count {
            page &+= Int64(zigzag: steps[index])
            guard let number = UInt32(exactly: page), places[index] < 1 << 17, lengths[index] < UInt64(left) else {
                throw .damaged(.segmentLimit)
            }
            let length = Int(lengths[index]) + 1
            left -= length
            runs.append(
                PageRun(page: number, offset: Int(places[index] >> 1), count: length, isChain: places[index] & 1 == 1))
        }
        return runs
    }

    /// The bytes of runs, one after the other.
    ///
    /// - Parameters:
    ///   - roots: The highest page that is the root of a tree. No run begins before the page after it.
    ///   - last: The last page that a run may take bytes of.
    ///   - kept: Pages that a run may take no bytes of.
    /// - Throws: `.damaged` for a run that names other bytes, and what `pages` throws.
    static func bytes(
        of runs: [PageRun], in pages: any PageSource, _ geometry: PageGeometry, after roots: UInt32, upTo last: UInt32,
        without kept: [KeptPages] = [], _ work: DecodingWork
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let size = runs.reduce(0) { $0 + $1.count }
        try work.spend(size)
        bytes.reserveCapacity(size)
        var page = [UInt8](repeating: 0, count: geometry.pageSize)
        var held: UInt32 = 0
        for run in runs {
            var (number, offset, missing) = (run.page, run.offset, run.count)
            guard number > roots, offset >= run.skipped else { throw CompressionError.damaged(.segment) }
            while missing > 0 {
                guard number <= last, !geometry.isSetAside(number), offset < geometry.usableSize,
                    !kept.contains(where: { $0.contains(number) })
                else { throw CompressionError.damaged(.segment) }
                try work.spend(DecodingWork.move(pageSize: geometry.pageSize))
                if number != held { try pages.read(number, into: &page) }
                held = number
                let count = min(missing, geometry.usableSize - offset)
                bytes += page[offset..<(offset + count)]
                missing -= count
                offset = run.skipped
                number = geometry.page(after: number)
            }
        }
        return bytes
    }
}

extension SegmentLimits {
    /// Runs of pages that a segment has as its dictionary.
    static let pageRuns = 65_536
    /// Bytes of all runs.
    static let pageRunBytes = 4 * 1_048_576
}
