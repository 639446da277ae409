import GRDB
import StoreFormat
import StoreSnapshot
import SystemPackage
import TestSupport

@testable import StoreEncoding

/// Two states of a store, of which one side has the old one and the other side the new one, and what they find of each other.
struct ComparedStores {
    let base: [UInt8]
    let new: [UInt8]
    let shapes: [String: IndexShape]

    /// - Parameters: SQL that makes the store, and that changes it.
    init(pageSize: Int = 4096, _ first: String, _ second: String) throws {
        let folder = try ScratchFolder.inMemory()
        let queue = try DatabaseQueue(path: folder.path.appending("source").string)
        func copy(_ sql: String, to name: String) throws -> FilePath {
            try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            let copy = folder.path.appending(name)
            try queue.vacuum(into: copy.string)
            return copy
        }
        let (old, new) = (try copy("PRAGMA page_size = \(pageSize);" + first, to: "old"), try copy(second, to: "new"))
        try queue.close()
        try self.init(of: old, new)
    }

    /// - Parameters: Compact copies.
    /// - Throws: `StoreFlaw` for what has no canonical form.
    init(of old: FilePath, _ new: FilePath) throws {
        let copy = try DatabaseQueue(path: new.string)
        shapes = try copy.unsafeRead { try IndexShape.all(in: $0) }
        try copy.close()
        base = try MemoryPages.canonicalForm(of: PageReading.bytes(of: old))
        self.new = try MemoryPages.canonicalForm(of: PageReading.bytes(of: new))
    }

    /// What a search has found, and what it took.
    struct Found {
        var shared: SharedRows?
        /// Bytes both ways.
        var bytes = 0
        var requests = 0
    }

    /// - Parameter change: Changes an answer on its way.
    func search(_ change: ([UInt8]) -> [UInt8] = { $0 }) throws -> Found {
        let search = try RangeSearch(try MemoryPages(new), shapes: shapes, nonce: Array(0..<16))
        let answers = try RangeAnswers(try MemoryPages(base), nonce: Array(100..<116))
        var found = Found()
        var request: [UInt8]? = search.begin()
        while let next = request {
            let answer = change(try answers.answer(next))
            found.bytes += next.count + answer.count
            found.requests += 1
            request = try search.next(after: answer)
        }
        found.shared = search.shared
        return found
    }

    func delta(_ shared: SharedRows) throws -> [[UInt8]] {
        var segments: [[UInt8]] = []
        try AsyncDeltaEncoder.write(try MemoryPages(new), sharing: shared, shapes, .smallest, limit: .max) {
            segments.append($0.bytes)
        }
        return segments
    }

    /// - Returns: The file that a consumer makes.
    func applied(_ segments: [[UInt8]]) throws -> [UInt8] {
        let wanted = try MemoryPages(new)
        let target = MemoryPages(pageSize: wanted.pageSize, mostPages: wanted.pageCount)
        let builder = DeltaBuilder(
            base: try MemoryPages(base), pageSize: wanted.pageSize, pageCount: wanted.pageCount
        ) { _ in target }
        for segment in segments { try builder.append(segment) }
        try builder.finish()
        return target.bytes
    }
}
