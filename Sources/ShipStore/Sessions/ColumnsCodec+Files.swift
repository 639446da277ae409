import ShipCompression
import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

extension ColumnsCodec {
    /// Over files.
    package static let standard = ColumnsCodec(
        makeEncoder: { StoreEncoder($0, $0.pages) },
        makeDecoder: { StoreFileDecoder($0) },
        makeDeltaEncoder: { store, base in
            DeltaSegments(
                store.dial, shapes: base.goesByRows ? store.shapes : nil, limit: base.limit,
                openBase: { try PageFile(reading: base.path) }, store.pages,
                goingOnAfter: store.earlier)
        },
        makeDeltaDecoder: { try DeltaFileDecoder($0, over: $1) })
}

extension StoreToEncode {
    fileprivate var pages: StoreEncoder.Pages {
        StoreEncoder.Pages(
            open: { [path] in try PageFile(reading: path) { try Task.checkCancellation() } },
            makeSpillFile: { [path, room] in try EntrySpill(at: FilePath(path.string + ".part-entries"), in: room) })
    }
}

/// A store's file that a builder makes once it knows the size of its pages.
private final class FileBox {
    private let store: StoreToMake
    private(set) var file: PageFile?

    init(_ store: StoreToMake) { self.store = store }

    func make(pageSize: Int) throws -> StoreFileTarget {
        let made = try PageFile(creating: store.path, pageSize: pageSize) { try Task.checkCancellation() }
        file = made
        return StoreFileTarget(made, store)
    }

    var size: Int64 { file.map { Int64($0.pageCount) * Int64($0.pageSize) } ?? 0 }
}

/// Segments into a store's file.
private final class StoreFileDecoder: ColumnsDecoder {
    private let builder: StoreBuilder
    private let file: FileBox

    init(_ store: StoreToMake) {
        let file = FileBox(store)
        self.file = file
        builder = StoreBuilder(pageSize: store.facts.pageSize, pageCount: UInt32(clamping: store.facts.pageCount)) {
            try file.make(pageSize: $0.pageSize)
        }
    }

    func append(_ segment: [UInt8]) throws { try builder.append(segment) }

    func finish() throws {
        guard builder.isComplete else { throw CompressionError.damaged(.rows) }
        try file.file?.flush()
    }

    var bytesDone: Int64 { file.size }
}

/// The segments of a delta, and the file that it was made against, into a store's file.
private final class DeltaFileDecoder: ColumnsDecoder {
    private let builder: DeltaBuilder
    private let file: FileBox

    init(_ store: StoreToMake, over base: FilePath) throws {
        let file = FileBox(store)
        self.file = file
        builder = DeltaBuilder(
            base: try BasePages(base), pageSize: store.facts.pageSize,
            pageCount: UInt32(clamping: store.facts.pageCount)
        ) { try file.make(pageSize: $0) }
    }

    func append(_ segment: [UInt8]) throws { try builder.append(segment) }

    func finish() throws {
        try builder.finish()
        try file.file?.flush()
    }

    var bytesDone: Int64 { file.size }
}

/// A file that is being built, and beside which entries are sorted.
private final class StoreFileTarget: StoreBuilder.Target {
    private let file: PageFile
    private let store: StoreToMake

    init(_ file: PageFile, _ store: StoreToMake) {
        self.file = file
        self.store = store
    }

    var pageCount: UInt32 { file.pageCount }

    func read(_ number: UInt32, into page: inout [UInt8]) throws { try file.read(number, into: &page) }

    func write(_ page: [UInt8], number: UInt32) throws { try file.write(page, number: number) }

    func writePointer(_ entry: (type: UInt8, parent: UInt32), map: UInt32, offset: Int) throws {
        try file.writePointer(entry, map: map, offset: offset)
    }

    func makeSpillFile() throws -> any SpillFile {
        try EntrySpill(at: FilePath(store.path.string + ".part-entries"), in: store.room)
    }
}

/// What a delta was made against. Where it cannot be read any more, the delta does not decode, and the store comes otherwise.
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

/// The bytes of a file that nobody changes, read where they are needed. What cannot be read leaves no delta, and the part goes otherwise.
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
