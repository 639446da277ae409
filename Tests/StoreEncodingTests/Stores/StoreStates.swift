import GRDB
import StoreFormat
import StoreSnapshot
import SystemPackage
import TestSupport

@testable import StoreEncoding

/// Two states of a store, as compact copies.
struct StoreStates {
    let base: [UInt8]
    let new: [UInt8]
    let shapes: [String: IndexShape]

    /// - Parameters:
    ///   - first: SQL that makes the store.
    ///   - second: SQL that makes it what it is to be.
    init(
        encoding: String = "UTF-8", pageSize: Int, _ first: String, _ second: String, isCanonical: Bool = true
    ) throws {
        let folder = try ScratchFolder.inMemory()
        let queue = try DatabaseQueue.repeatable(path: folder.path.appending("source"))
        func copy(_ sql: String, to name: String) throws -> FilePath {
            try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            let copy = folder.path.appending(name)
            try queue.vacuum(into: copy.string)
            return copy
        }
        let settings = "PRAGMA page_size = \(pageSize); PRAGMA encoding = '\(encoding)';"
        let (old, new) = (try copy(settings + first, to: "old"), try copy(second, to: "new"))
        try queue.close()
        try self.init(of: old, new, isCanonical: isCanonical)
    }

    /// - Parameter isCanonical: Whether to bring the copies into canonical form.
    /// - Throws: `StoreFlaw` for what has none.
    init(of old: FilePath, _ new: FilePath, isCanonical: Bool = true) throws {
        func bytes(of copy: FilePath) throws -> [UInt8] {
            let bytes = try PageReading.bytes(of: copy)
            return isCanonical ? try MemoryPages.canonicalForm(of: bytes) : bytes
        }
        let copy = try DatabaseQueue(path: new.string)
        shapes = try copy.unsafeRead { try IndexShape.all(in: $0) }
        try copy.close()
        (base, self.new) = (try bytes(of: old), try bytes(of: new))
    }

    /// Applies a delta to a base.
    ///
    /// - Returns: The file.
    func applied(_ segments: [[UInt8]], to base: [UInt8]? = nil) throws -> [UInt8] {
        let wanted = try MemoryPages(new)
        let target = MemoryPages(pageSize: wanted.pageSize, mostPages: wanted.pageCount)
        let builder = DeltaBuilder(
            base: try MemoryPages(base ?? self.base), pageSize: wanted.pageSize, pageCount: wanted.pageCount
        ) { _ in target }
        for segment in segments { try builder.append(segment) }
        try builder.finish()
        return target.bytes
    }
}
