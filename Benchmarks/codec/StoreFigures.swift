import GRDB
import StoreFiles
import StoreFormat
import StoreSnapshot
import SystemPackage

/// What one store costs: medians of all turns, in seconds; sizes in bytes.
struct StoreFigures: Encodable {
    let store: String
    /// Of the vacuumed file.
    let bytes: Int64
    /// `nil` for a store that has no canonical form: `flaw` says why.
    var columns: Columns?
    var flaw: String?

    struct Columns: Encodable {
        /// Of all segments.
        let encoded: Int
        let canonicalize: Double
        let encode: Double
        let decode: Double
        let deflate: Double
        /// To the file, and `REINDEX`. `nil` if SQLite cannot: an index wants what only the app has.
        let inflateAndReindex: Double?
        /// Medians of the ratios turn by turn.
        let encodeRatio: Double
        let decodeRatio: Double?
    }

    init(of store: borrowing BenchedStore, runs: Int, in folder: FilePath) throws {
        self.store = store.source.lastComponent?.string ?? store.source.string
        bytes = try store.size
        switch store.shapes {
        case nil: break
        case .failure(let flaw): self.flaw = "\(flaw)"
        case .success(let shapes):
            let work = ColumnsWork(
                vacuumed: store.vacuumed, canonical: store.canonical, shapes: shapes, folder: folder)
            let plain = PlainWork(vacuumed: store.vacuumed, folder: folder)
            // What takes less than a few milliseconds is taken more often.
            let turns = runs * Int(min(20, max(1, 4_000_000 / max(1, bytes))))
            columns = try Columns(work, plain, size: Int(bytes), turns: turns)
        }
    }
}

extension StoreFigures.Columns {
    /// - Parameter size: Of the vacuumed file.
    fileprivate init(_ work: ColumnsWork, _ plain: PlainWork, size: Int, turns count: Int) throws {
        let segments = try work.encode()
        let stream = try plain.deflate()
        let decoded = try work.decode(segments)
        try work.check(decoded)
        try PlatformCalls.removeFile(decoded)
        var times = Turns()
        for turn in 0..<count {
            times.canonicalize.append(try seconds { try work.canonicalize() })
            // Nobody is always the first.
            let ours = {
                times.encode.append(try seconds { _ = try work.encode() })
                times.decode.append(try seconds { _ = try work.decode(segments) })
                try PlatformCalls.removeFile(decoded)
            }
            if turn % 2 == 0 { try ours() }
            times.deflate.append(try seconds { _ = try plain.deflate() })
            let inflated = work.folder.appending("inflated")
            defer { try? PlatformCalls.removeFile(inflated) }
            let took = try seconds { _ = try plain.inflate(stream, size: size) }
            if let more = try? seconds({ try plain.reindex(inflated) }) { times.reindexed.append(took + more) }
            if turn % 2 != 0 { try ours() }
        }
        let isReindexed = times.reindexed.count == count
        encoded = segments.reduce(0) { $0 + $1.count }
        canonicalize = times.canonicalize.median
        encode = times.encode.median
        decode = times.decode.median
        deflate = times.deflate.median
        inflateAndReindex = isReindexed ? times.reindexed.median : nil
        encodeRatio = zip(times.encode, times.deflate).map { $0 / $1 }.median
        decodeRatio = isReindexed ? zip(times.decode, times.reindexed).map { $0 / $1 }.median : nil
    }

    /// Seconds, turn by turn.
    private struct Turns {
        var canonicalize: [Double] = []
        var encode: [Double] = []
        var decode: [Double] = []
        var deflate: [Double] = []
        var reindexed: [Double] = []
    }
}

private func seconds(_ work: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try work()
    return (ContinuousClock.now - start) / .seconds(1)
}

extension [Double] {
    /// The one in the middle; of an even number of them the higher one of two.
    fileprivate var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}
