import StoreEncoding
import StoreFiles
import StoreFormat
import SystemPackage

/// The file that a decoder makes, and beside it, where entries of indexes go that do not fit into memory.
final class BuiltFile: StoreBuilder.Target {
    private let file: PageFile
    private let spillPath: FilePath

    /// - Parameter path: Nothing is there yet.
    init(creating path: FilePath, pageSize: Int) throws {
        file = try PageFile(creating: path, pageSize: pageSize)
        spillPath = FilePath(path.string + "-spill")
    }

    func finish() throws { try file.finish() }

    var pageCount: UInt32 { file.pageCount }

    func read(_ number: UInt32, into page: inout [UInt8]) throws { try file.read(number, into: &page) }

    func write(_ page: [UInt8], number: UInt32) throws { try file.write(page, number: number) }

    func writePointer(_ entry: (type: UInt8, parent: UInt32), map: UInt32, offset: Int) throws {
        try file.writePointer(entry, map: map, offset: offset)
    }

    func makeSpillFile() throws -> any SpillFile { try EntrySpill(at: spillPath) }
}
