import FoundationEssentials
import StoreEncoding
import StoreFiles
import StoreFormat
import StoreSnapshot
import SystemPackage

/// The delta between two versions of a store, made and applied.
struct DeltaWork {
    enum Flaw: Error { case differs }

    /// What is printed of it.
    struct Figures: Encodable {
        let base: String
        let new: String
        /// Of the canonical copy, in bytes.
        let size: Int64
        /// Of the delta, in bytes.
        let delta: Int
        /// In seconds, the self-check included.
        let encoding: Double
        let decoding: Double
    }

    let base: FilePath
    let new: FilePath
    /// Where files are made.
    let folder: FilePath
    /// Where base, result and delta are kept, for somebody else to try.
    let kept: FilePath?

    func run() async throws -> Figures {
        let base = try await BenchedStore.take(base, in: folder)
        let new = try await BenchedStore.take(new, in: folder)
        return try run(base.canonical, new.canonical, try? new.shapes?.get())
    }

    private func run(_ base: FilePath, _ new: FilePath, _ shapes: [String: IndexShape]?) throws -> Figures {
        let (basePages, newPages) = (try PageFile(reading: base), try PageFile(reading: new))
        var segments: [[UInt8]] = []
        let clock = ContinuousClock()
        let encoding = try clock.measure {
            let encoder = DeltaEncoder(from: basePages, to: newPages, shapes: shapes, effort: .smallest) {
                try EntrySpill(at: folder.appending("spill"))
            }
            try encoder.encode { segment in segments.append(segment.bytes) }
        }
        let target = folder.appending("decoded")
        defer { try? PlatformCalls.removeFile(target) }
        let decoding = try clock.measure {
            var built: BuiltFile?
            let builder = DeltaBuilder(base: basePages, pageSize: newPages.pageSize, pageCount: newPages.pageCount) {
                let file = try BuiltFile(creating: target, pageSize: $0)
                built = file
                return file
            }
            for segment in segments { try builder.append(segment) }
            try builder.finish()
            try built?.finish()
        }
        try check(target, newPages)
        if let kept { try keep(base, new, segments, in: kept) }
        return Figures(
            base: self.base.string, new: self.new.string, size: Int64(newPages.pageCount) * Int64(newPages.pageSize),
            delta: segments.reduce(0) { $0 + $1.count }, encoding: encoding / .seconds(1),
            decoding: decoding / .seconds(1))
    }

    /// Each segment goes after its size in 4 bytes, big-endian.
    private func keep(_ base: FilePath, _ new: FilePath, _ segments: [[UInt8]], in kept: FilePath) throws {
        func url(_ name: String) -> URL { URL(filePath: kept.appending(name).string) }
        try Data(contentsOf: URL(filePath: base.string)).write(to: url("base"))
        try Data(contentsOf: URL(filePath: new.string)).write(to: url("result"))
        var delta = Data()
        for segment in segments {
            withUnsafeBytes(of: UInt32(segment.count).bigEndian) { delta.append(contentsOf: $0) }
            delta += segment
        }
        try delta.write(to: url("delta"))
    }

    private func check(_ decoded: FilePath, _ wanted: PageFile) throws {
        let made = try PageFile(reading: decoded)
        guard made.pageCount == wanted.pageCount, made.pageSize == wanted.pageSize else { throw Flaw.differs }
        var page = [UInt8](repeating: 0, count: wanted.pageSize)
        var other = page
        for number in 1...wanted.pageCount {
            try made.read(number, into: &page)
            try wanted.read(number, into: &other)
            guard page == other else { throw Flaw.differs }
        }
    }
}
