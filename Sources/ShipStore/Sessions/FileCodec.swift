import ShipCompression
import ShipProtocol
package import StoreEncoding
import StoreFiles
import StoreFormat
package import SystemPackage

/// Encodes and decodes files.
package struct FileCodec: StoreCodec {
    package init() {}

    package func encode(_ store: StoreToEncode, deliver: (EncodedSegment) async throws -> Void) async throws {
        try await StoreEncoder(store, open: { try store.open() }, makeSpillFile: { try store.makeSpillFile() })
            .encode(deliver: deliver)
    }

    package func encode(
        _ store: StoreToEncode, over base: FilePath, limit: Int64, deliver: (EncodedSegment) async throws -> Void
    ) async throws {
        let encoder = AsyncDeltaEncoder(
            store.settings, shapes: store.shapes, unchanged: store.unchanged, limit: limit,
            openBase: { try PageFile(reading: base) { try Task.checkCancellation() } },
            open: { try store.open() }, makeSpillFile: { try store.makeSpillFile() })
        try await encoder.encode(goingOnAfter: store.earlier, deliver: deliver)
    }

    package func makeDecoder(_ store: StoreToDecode, over base: FilePath?) throws -> any StoreSegmentDecoder {
        try StoreFileDecoder(store, over: base)
    }
}

extension StoreToEncode {
    fileprivate func open() throws -> any PageSource { try PageFile(reading: path) { try Task.checkCancellation() } }

    fileprivate func makeSpillFile() throws -> any SpillFile {
        // The walk and the check sort at the same time.
        let number = UInt64.random(in: 0...UInt64.max)
        let folder = workingFolder ?? path.removingLastComponent()
        return try EntrySpill(at: folder.appending(text: ".part-entries-\(number)"), in: room)
    }
}

/// A store's file, which a builder makes once it knows the size of the pages.
private final class FileBox {
    private let store: StoreToDecode
    private let base: FilePath?
    private(set) var file: PageFile?

    init(_ store: StoreToDecode, like base: FilePath?) {
        self.store = store
        self.base = base
    }

    func make(pageSize: Int) throws -> StoreFileTarget {
        let made = try PageFile(creating: store.path, pageSize: pageSize, like: base, takingSpare: store.takeSpare) {
            try Task.checkCancellation()
        }
        file = made
        return StoreFileTarget(made, store)
    }

    var size: Int64 { file.map { Int64($0.pageCount) * Int64($0.pageSize) } ?? 0 }
}

/// Decodes segments of rows, or of a delta, into a store's file.
private final class StoreFileDecoder: StoreSegmentDecoder {
    private let file: FileBox
    private let decode: ([UInt8]) throws -> Void
    private let end: () throws -> Void

    init(_ store: StoreToDecode, over base: FilePath?) throws {
        let file = FileBox(store, like: base)
        self.file = file
        let (pageSize, pageCount) = (store.facts.pageSize, UInt32(clamping: store.facts.pageCount))
        let work = DecodingWork(store.limits)
        if let base {
            let builder = DeltaBuilder(base: try BasePages(base), pageSize: pageSize, pageCount: pageCount, work) {
                try file.make(pageSize: $0)
            }
            decode = { try builder.append($0) }
            end = { try builder.finish() }
        } else {
            let builder = StoreBuilder(pageSize: pageSize, pageCount: pageCount, work) {
                try file.make(pageSize: $0.pageSize)
            }
            decode = { try builder.append($0) }
            end = { if !builder.isComplete { throw CompressionError.damaged(.rows) } }
        }
    }

    func append(_ segment: [UInt8]) throws { try decode(segment) }

    func finish() throws {
        try end()
        try file.file?.finish()
    }

    var bytesDone: Int64 { file.size }
}

/// Writes the pages of a store that is being built, and sorts entries in files beside it.
private final class StoreFileTarget: StoreBuilder.Target {
    /// A DATA of few bytes may have all of the base copied: so what is written is told whenever it is so many bytes more.
    private static let step: Int64 = 4 * 1024 * 1024

    private let file: PageFile
    private let store: StoreToDecode
    private var told: Int64 = 0

    init(_ file: PageFile, _ store: StoreToDecode) {
        self.file = file
        self.store = store
    }

    var pageCount: UInt32 { file.pageCount }

    func read(_ number: UInt32, into page: inout [UInt8]) throws { try file.read(number, into: &page) }

    func write(_ page: [UInt8], number: UInt32) throws {
        try file.write(page, number: number)
        guard file.size - told >= Self.step else { return }
        told = file.size
        try store.growing(told)
    }

    func writePointer(_ entry: (type: UInt8, parent: UInt32), map: UInt32, offset: Int) throws {
        try file.writePointer(entry, map: map, offset: offset)
    }

    func makeSpillFile() throws -> any SpillFile {
        try EntrySpill(at: FilePath(text: store.path.text + ".part-entries"), in: store.room)
    }
}

/// Reads the file that a delta was made against. If that fails, the delta does not decode, and the store comes in another encoding.
private struct BasePages: PageSource {
    private let file: PageFile

    init(_ path: FilePath) throws {
        file = try Self.reading { try PageFile(reading: path) { try Task.checkCancellation() } }
    }

    var pageCount: UInt32 { file.pageCount }

    func read(_ number: UInt32, into page: inout [UInt8]) throws {
        try Self.reading { try file.read(number, into: &page) }
    }

    private static func reading<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw CompressionError.damaged(.base)
        }
    }
}

/// Reads the bytes of a file that does not change. If that fails, there is no delta, and the part goes in another encoding.
final class FileContent: ByteSource, Sendable {
    private let file: OpenFile
    let size: Int64

    init(of file: consuming OpenFile) throws(FileError) {
        size = try file.size
        self.file = file
    }

    convenience init(at path: FilePath) throws(FileError) {
        try self.init(of: try OpenFile.readingWithoutFollowing(path))
    }

    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) throws {
        try Task.checkCancellation()
        guard let found = try? file.read(range.count, at: range.lowerBound), found.count == range.count else {
            throw CompressionError.damaged(.base)
        }
        bytes += found
    }
}
