import StoreFiles
import StoreFormat
import StoreSnapshot
import SystemPackage

/// A store to be measured: its vacuumed file, and its canonical copy.
struct BenchedStore: ~Copyable {
    let source: FilePath
    private let vacuumedCopy: CompactCopy
    private let canonicalCopy: CompactCopy

    private init(source: FilePath, vacuumed: consuming CompactCopy, canonical: consuming CompactCopy) {
        self.source = source
        vacuumedCopy = vacuumed
        canonicalCopy = canonical
    }

    /// - Parameter folder: Where the copies go.
    static func take(_ path: FilePath, in folder: FilePath) async throws -> BenchedStore {
        let live = try SourceStore(at: path)
        return BenchedStore(
            source: path,
            vacuumed: try await live.compactCopy(
                in: folder, allowsMissingExternalFiles: true, inCanonicalForm: false),
            canonical: try await live.compactCopy(in: folder, allowsMissingExternalFiles: true))
    }

    var vacuumed: FilePath { vacuumedCopy.path }
    /// Of the vacuumed file, in bytes.
    var size: Int64 { get throws { try PlatformCalls.status(of: vacuumed).size } }
    var canonical: FilePath { canonicalCopy.path }
    /// See `CompactCopy.canonical`.
    var shapes: Result<[String: IndexShape], StoreFlaw>? { canonicalCopy.canonical }
}
