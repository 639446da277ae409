import StoreEncoding
import StoreFormat

/// A store in memory, of limited size.
final class FuzzPages: StoreBuilder.Target {
    private(set) var bytes: [UInt8]
    let pageSize: Int
    var reads = 0
    private let mostPages: UInt32

    struct OutOfRange: Error {}

    init(_ bytes: [UInt8]) throws {
        pageSize = try DatabaseHeader(decoding: Array(bytes.prefix(DatabaseHeader.size))).pageSize
        self.bytes = bytes + [UInt8](repeating: 0, count: (pageSize - bytes.count % pageSize) % pageSize)
        mostPages = 0
    }

    init(pageSize: Int, mostPages: UInt32) {
        self.pageSize = pageSize
        self.mostPages = mostPages
        bytes = []
    }

    /// Whether the first page, which comes last, has not come.
    var isUnfinished: Bool { bytes.isEmpty || bytes[0] == 0 }

    var pageCount: UInt32 { UInt32(bytes.count / pageSize) }

    func read(_ number: UInt32, into page: inout [UInt8]) throws {
        guard number >= 1, number <= pageCount else { throw OutOfRange() }
        reads += 1
        let start = (Int(number) - 1) * pageSize
        page = Array(bytes[start..<(start + page.count)])
    }

    func write(_ page: [UInt8], number: UInt32) throws {
        let start = try grow(to: number)
        bytes.replaceSubrange(start..<(start + pageSize), with: page)
    }

    func writePointer(_ entry: (type: UInt8, parent: UInt32), map: UInt32, offset: Int) throws {
        let start = try grow(to: map) + offset
        precondition(offset + 5 <= pageSize)
        bytes[start] = entry.type
        withUnsafeBytes(of: entry.parent.bigEndian) { bytes.replaceSubrange((start + 1)..<(start + 5), with: $0) }
    }

    func makeSpillFile() throws -> any SpillFile { FuzzSpill() }

    private func grow(to number: UInt32) throws -> Int {
        guard number >= 1, number <= mostPages else { throw OutOfRange() }
        let end = Int(number) * pageSize
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        return end - pageSize
    }
}

private final class FuzzSpill: SpillFile {
    private var bytes: [UInt8] = []

    func append(_ bytes: [UInt8]) throws {
        self.bytes += bytes
        precondition(self.bytes.count < 1 << 28, "entries without end")
    }

    func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
}
