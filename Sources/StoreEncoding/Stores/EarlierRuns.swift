import StoreFormat

/// Where the dictionary of a segment is.
struct EarlierRuns: Sendable {
    let runs: [PageRun]
    let geometry: PageGeometry
    /// Bytes of the runs for each byte that was found: some of what is between is the same as well.
    let density: Double

    /// - Parameter pages: Of the whole store.
    func bytes(in pages: any PageSource) throws -> [UInt8] {
        try PageRun.bytes(of: runs, in: pages, geometry, after: 0, upTo: pages.pageCount, DecodingWork())
    }
}
