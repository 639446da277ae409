import GRDB
import StoreFormat
import StoreSnapshot
import SystemPackage
import TestSupport

/// The canonical copy of a store, in memory, and what SQLite says of its indexes.
struct CanonicalCopy: Sendable {
    let bytes: [UInt8]
    let pageSize: Int
    let shapes: [String: IndexShape]

    /// - Parameter copy: A compact copy.
    init(of copy: FilePath) throws {
        bytes = try MemoryPages.canonicalForm(of: try PageReading.bytes(of: copy))
        pageSize = try MemoryPages(bytes).pageSize
        let queue = try DatabaseQueue(path: copy.string)
        shapes = try queue.unsafeRead { try IndexShape.all(in: $0) }
        try queue.close()
    }

    var pageCount: UInt32 { UInt32(bytes.count / pageSize) }
}
