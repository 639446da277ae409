package import StoreFormat
package import SystemPackage

/// A file for entries that do not fit into memory. It has no name, and goes with its owner, or with the process.
package final class EntrySpill: SpillFile {
    private let file: OpenFile
    private let room: (any SpillSpace)?
    private var size: Int64 = 0

    /// - Parameters:
    ///   - path: A name that is free, and free again once this is made.
    ///   - room: What counts its bytes.
    package init(at path: FilePath, in room: (any SpillSpace)? = nil) throws(FileError) {
        file = try OpenFile.creating(path)
        self.room = room
        try PlatformCalls.removeFile(path)
    }

    deinit { room?.giveBack(size) }

    package func append(_ bytes: [UInt8]) throws {
        try room?.take(Int64(bytes.count))
        // `deinit` gives them back, whatever becomes of the writing.
        size += Int64(bytes.count)
        try file.write(bytes)
        room?.wrote(Int64(bytes.count))
    }

    package func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        let bytes = try file.read(count, at: offset)
        guard bytes.count == count else { throw FileError(.read, file.path, .ioError) }
        return bytes
    }
}
