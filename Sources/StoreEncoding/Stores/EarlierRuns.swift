import StoreFormat

/// The runs that earlier segments have of the rows and chunks of a segment.
package struct EarlierRuns: Sendable {
    /// Runs that are no further apart become one. Where they are too many bytes then, only those nearer to each other do.
    static let gaps = [512, 64, 0]

    private let found: [PageRun]
    private let written: WrittenPages
    /// Bytes of the runs that are left for each byte that was found: some of what is between is the same as well.
    let density: Double

    /// The dictionary of a segment.
    package struct Dictionary {
        let runs: [PageRun]
        let bytes: [UInt8]
        /// Where keys begin among the bytes, in order.
        let keys: [Int]
    }

    init(_ found: [PageRun], _ written: WrittenPages) {
        (self.found, self.written) = (found, written)
        let count = found.reduce(0) { $0 + $1.count }
        let merged = written.merged(found).runs
        density = max(1, Double(merged.reduce(0) { $0 + $1.count }) / Double(max(1, count)))
    }

    /// Whether rows were found as they stand.
    var haveRows: Bool { !found.isEmpty }

    /// - Parameters:
    ///   - keys: Runs that are keys to which columns refer.
    ///   - pages: Of the whole store.
    func dictionary(with keys: [PageRun], in pages: any PageSource) throws -> Dictionary {
        var merged = (runs: [PageRun](), places: [Int]())
        for gap in Self.gaps {
            merged = written.merged(found + keys, gap: gap)
            guard merged.places.contains(-1) else { break }
        }
        let bytes = try PageRun.bytes(
            of: merged.runs, in: pages, written.geometry, after: 0, upTo: pages.pageCount, DecodingWork())
        return Dictionary(
            runs: merged.runs, bytes: bytes, keys: merged.places.dropFirst(found.count).filter { $0 >= 0 }.sorted())
    }
}

extension WrittenPages {
    /// The runs in the order of their pages, those that are near as one.
    ///
    /// - Returns: Where each of `runs` begins among their bytes, too; -1 for those that are not among them, as they are too many.
    func merged(_ runs: [PageRun], gap: Int = EarlierRuns.gaps[0]) -> (runs: [PageRun], places: [Int]) {
        let order = runs.indices.sorted {
            let (one, other) = (runs[$0], runs[$1])
            return (one.isChain ? 1 : 0, one.page, one.offset) < (other.isChain ? 1 : 0, other.page, other.offset)
        }
        var merged: [PageRun] = []
        var places = [Int](repeating: -1, count: runs.count)
        var (begin, size) = (0, 0)
        for index in order {
            let run = runs[index]
            if let last = merged.last, let distance = distance(from: last, to: run), distance <= last.count + gap {
                let count = max(last.count, distance + run.count)
                guard begin + count <= SegmentLimits.pageRunBytes else { break }
                merged[merged.count - 1].count = count
                size = begin + count
                places[index] = begin + distance
            } else {
                guard size + run.count <= SegmentLimits.pageRunBytes, merged.count < SegmentLimits.pageRuns else {
                    break
                }
                begin = size
                size += run.count
                merged.append(run)
                places[index] = begin
            }
        }
        return (merged, places)
    }

    /// Bytes from the beginning of a run to that of one that does not begin before it; `nil` if pages between them are not next to each other.
    private func distance(from run: PageRun, to other: PageRun) -> Int? {
        guard run.isChain == other.isChain else { return nil }
        let content = geometry.usableSize - (run.isChain ? 4 : 0)
        let pages = Int(other.page - run.page)
        guard pages <= SegmentLimits.pageRunBytes / content,
            !(0..<UInt32(pages)).contains(where: { isSetAside(run.page + 1 + $0) })
        else { return nil }
        return pages * content + other.offset - run.offset
    }
}
