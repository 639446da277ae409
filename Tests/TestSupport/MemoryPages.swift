import Foundation
import StoreEncoding
package import StoreFormat
import SystemPackage

/// A store in memory: read page by page, or written so.
package final class MemoryPages: StoreBuilder.Target {
    package private(set) var bytes: [UInt8]
    package let pageSize: Int
    /// Most pages that may be written.
    private let mostPages: UInt32

    /// A read beyond the end, or a write beyond the limit.
    package struct OutOfRange: Error, Hashable, Sendable {
        package let page: UInt32
    }

    /// - Parameter bytes: A whole store; an incomplete page at its end does not count.
    /// - Throws: `StoreFlaw` for a header that cannot be.
    package init(_ bytes: [UInt8]) throws {
        pageSize = try DatabaseHeader(decoding: Array(bytes.prefix(DatabaseHeader.size))).pageSize
        self.bytes = bytes
        mostPages = UInt32(clamping: bytes.count / pageSize)
    }

    /// Nothing yet.
    package init(pageSize: Int, mostPages: UInt32 = 1 << 20) {
        self.pageSize = pageSize
        self.mostPages = mostPages
        bytes = []
    }

    package var pageCount: UInt32 { UInt32(clamping: bytes.count / pageSize) }

    package func read(_ number: UInt32, into page: inout [UInt8]) throws {
        guard number >= 1, number <= pageCount else { throw OutOfRange(page: number) }
        let start = (Int(number) - 1) * pageSize
        page.withUnsafeMutableBytes { page in
            bytes.withUnsafeBytes { page.copyMemory(from: .init(rebasing: $0[start..<(start + page.count)])) }
        }
    }

    package func write(_ page: [UInt8], number: UInt32) throws {
        let start = try grow(to: number)
        bytes.withUnsafeMutableBytes { bytes in
            page.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyMemory(from: $0) }
        }
    }

    package func writePointer(_ entry: (type: UInt8, parent: UInt32), map: UInt32, offset: Int) throws {
        let start = try grow(to: map) + offset
        bytes[start] = entry.type
        withUnsafeBytes(of: entry.parent.bigEndian) { bytes.replaceSubrange((start + 1)..<(start + 5), with: $0) }
    }

    package func makeSpillFile() throws -> any SpillFile { MemorySpill() }

    /// - Returns: Where the page begins.
    private func grow(to number: UInt32) throws -> Int {
        guard number >= 1, number <= mostPages else { throw OutOfRange(page: number) }
        let end = Int(number) * pageSize
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        return end - pageSize
    }

    /// The canonical form of a compact copy.
    ///
    /// - Throws: `StoreFlaw` if it has none.
    package static func canonicalForm(of copy: [UInt8]) throws -> [UInt8] {
        let source = try MemoryPages(copy)
        guard copy.count % source.pageSize == 0 else { throw StoreFlaw.truncated(size: copy.count) }
        let target = MemoryPages(pageSize: source.pageSize)
        try CanonicalForm.write(of: source, to: target)
        return target.bytes
    }

    /// The canonical form of a new store.
    package static func canonicalForm(ofStoreMadeBy sql: String) throws -> [UInt8] {
        let folder = try ScratchFolder.inMemory()
        let path = folder.path.appending("copy")
        try TestStore.make(at: path, sql: sql)
        return try canonicalForm(of: [UInt8](Data(contentsOf: URL(fileURLWithPath: path.string))))
    }
}
