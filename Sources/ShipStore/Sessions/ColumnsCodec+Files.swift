import ShipCompression
import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

extension ColumnsCodec {
    /// Over files.
    package static let standard = ColumnsCodec(
        makeEncoder: { store in
            StoreEncoder(
                store,
                StoreEncoder.Pages(
                    open: { try PageFile(reading: store.path) { try Task.checkCancellation() } },
                    makeSpillFile: { try EntrySpill(at: FilePath(store.path.string + ".part-entries"), in: store.room) }
                ))
        },
        makeDecoder: { StoreFileDecoder($0) })
}

/// Segments into a store's file.
private final class StoreFileDecoder: ColumnsDecoder {
    private let builder: StoreBuilder
    private let file = FileBox()

    /// The builder makes the file once it knows the size of its pages.
    private final class FileBox {
        var file: PageFile?
    }

    init(_ store: StoreToMake) {
        builder = StoreBuilder(pageSize: store.facts.pageSize, pageCount: UInt32(clamping: store.facts.pageCount)) {
            [file] settings in
            let made = try PageFile(creating: store.path, pageSize: settings.pageSize) { try Task.checkCancellation() }
            file.file = made
            return StoreFileTarget(made, store)
        }
    }

    func append(_ segment: [UInt8]) throws { try builder.append(segment) }

    func finish() throws {
        guard builder.isComplete else { throw CompressionError.damaged(.rows) }
        try file.file?.flush()
    }

    var bytesDone: Int64 { file.file.map { Int64($0.pageCount) * Int64($0.pageSize) } ?? 0 }
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
