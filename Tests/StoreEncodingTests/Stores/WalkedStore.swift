import GRDB
import StoreFormat
import StoreSnapshot
import SystemPackage
import TestSupport

@testable import StoreEncoding

/// A canonical copy, and what the walk makes of it.
struct WalkedStore {
    let bytes: [UInt8]
    let pageSize: Int
    let contents: [SegmentContent]

    /// - Parameter copy: A compact copy, which SQLite is asked about its indexes.
    init(of copy: FilePath, prepare: (Database) -> Void = { _ in }) throws {
        let file = try PageReading.bytes(of: copy)
        bytes = try MemoryPages.canonicalForm(of: file)
        let queue = try DatabaseQueue(path: copy.string)
        let shapes = try queue.unsafeRead { database in
            prepare(database)
            return try IndexShape.all(in: database)
        }
        try queue.close()
        let pages = try MemoryPages(bytes)
        pageSize = pages.pageSize
        let contents = Collected()
        try StoreWalk.run(over: pages, shapes: shapes) { contents.all.append($0) }
        self.contents = contents.all
    }

    init(_ store: MadeStore) throws {
        let folder = try ScratchFolder.inMemory()
        let copy = folder.path.appending("copy")
        try store.makeCopy(at: copy, in: folder)
        try self.init(of: copy)
    }

    var pageCount: UInt32 { UInt32(bytes.count / pageSize) }

    /// All that is in the segments, in order.
    var elements: [SegmentContent.Element] { contents.flatMap(\.elements) }

    /// Builds the store from other elements than its own.
    func built(
        from elements: [SegmentContent.Element]? = nil, pageSize: Int? = nil, pageCount: UInt32? = nil
    ) throws -> MemoryPages {
        let count = pageCount ?? self.pageCount
        let target = MemoryPages(pageSize: self.pageSize, mostPages: count)
        let builder = StoreBuilder(pageSize: pageSize ?? self.pageSize, pageCount: count) { _ in target }
        if let elements {
            var content = SegmentContent(contents[0].integers)
            content.elements = elements
            try builder.append(try content.encoded(.fast))
        } else {
            for content in contents { try builder.append(try content.encoded(.fast)) }
        }
        guard builder.isComplete else { throw Incomplete() }
        return target
    }

    struct Incomplete: Error {}

    private final class Collected { var all: [SegmentContent] = [] }
}
