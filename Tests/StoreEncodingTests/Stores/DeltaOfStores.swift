import GRDB
import StoreFormat
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@testable import StoreEncoding

/// Two states of a store, and the delta between them.
struct DeltaOfStores {
    let base: [UInt8]
    let new: [UInt8]
    let shapes: [String: IndexShape]
    let segments: [[UInt8]]

    /// - Parameters:
    ///   - first: Makes the store.
    ///   - second: Makes it what it is to be.
    ///   - form: Of the new copy.
    init(
        encoding: String = "UTF-8", pageSize: Int = 1024, _ first: String, _ second: String,
        effort: SegmentEffort = .smallest, isCanonical: Bool = true
    ) throws {
        let folder = try ScratchFolder.inMemory()
        let queue = try DatabaseQueue(path: folder.path.appending("source").string)
        func copy(_ sql: String, to name: String) throws -> FilePath {
            try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            let copy = folder.path.appending(name)
            try queue.vacuum(into: copy.string)
            return copy
        }
        let settings = "PRAGMA page_size = \(pageSize); PRAGMA encoding = '\(encoding)';"
        let (old, new) = (try copy(settings + first, to: "old"), try copy(second, to: "new"))
        try queue.close()
        try self.init(of: old, new, effort: effort, isCanonical: isCanonical)
    }

    /// - Parameters: Compact copies.
    init(of old: FilePath, _ new: FilePath, effort: SegmentEffort = .smallest, isCanonical: Bool = true) throws {
        func bytes(of copy: FilePath) throws -> [UInt8] {
            let bytes = try PageReading.bytes(of: copy)
            return isCanonical ? try MemoryPages.canonicalForm(of: bytes) : bytes
        }
        let copy = try DatabaseQueue(path: new.string)
        shapes = try copy.unsafeRead { try IndexShape.all(in: $0) }
        try copy.close()
        (base, self.new) = (try bytes(of: old), try bytes(of: new))
        segments = try Self.segments(base, self.new, isCanonical ? shapes : nil, effort)
    }

    /// Whether a delta is made that is larger than the whole store.
    enum Wanted { case always, ifSmaller }

    static func segments(
        _ base: [UInt8], _ new: [UInt8], _ shapes: [String: IndexShape]?, _ effort: SegmentEffort,
        _ wanted: Wanted = .always, limit: Int64 = .max
    ) throws -> [[UInt8]] {
        let segments = Collected()
        let encoder = DeltaEncoder(
            from: try MemoryPages(base), to: try MemoryPages(new), shapes: shapes, effort: effort
        ) { MemorySpill() }
        func take(_ segment: EncodedSegment) {
            segments.all.append(segment.bytes)
            segments.isEnded = segment.isLast
        }
        switch wanted {
        case .always: try encoder.encode(limit: limit, deliver: take)
        case .ifSmaller: try encoder.encodeIfSmaller(limit: limit, deliver: take)
        }
        #expect(segments.isEnded)
        return segments.all
    }

    private final class Collected {
        var all: [[UInt8]] = []
        var isEnded = false
    }

    /// In bytes.
    var size: Int { segments.reduce(0) { $0 + $1.count } }

    /// Applies segments to a base.
    ///
    /// - Returns: The file.
    func applied(_ segments: [[UInt8]]? = nil, to base: [UInt8]? = nil) throws -> [UInt8] {
        let wanted = try MemoryPages(new)
        let target = MemoryPages(pageSize: wanted.pageSize, mostPages: wanted.pageCount)
        let builder = DeltaBuilder(
            base: try MemoryPages(base ?? self.base), pageSize: wanted.pageSize, pageCount: wanted.pageCount
        ) { _ in target }
        for segment in segments ?? self.segments { try builder.append(segment) }
        try builder.finish()
        return target.bytes
    }
}
