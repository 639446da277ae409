import CZlib
import GRDB
import StoreFiles
import SystemPackage

/// What one would do without the codec: zlib over the vacuumed file; and, to have no indexes on the wire, SQLite's own
/// `REINDEX` after that.
struct PlainWork {
    let vacuumed: FilePath
    /// Where files are made.
    let folder: FilePath

    enum Flaw: Error { case zlib(Int32) }

    /// `zlib -6` in one stream.
    func deflate() throws -> [UInt8] {
        let file = try OpenFile.reading(vacuumed)
        let bytes = try file.read(Int(file.size), at: 0)
        var size = compressBound(uLong(bytes.count))
        var result = Z_OK
        let stream = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            result = compress2(buffer.baseAddress, &size, bytes, uLong(bytes.count), 6)
            count = result == Z_OK ? Int(size) : 0
        }
        guard result == Z_OK else { throw Flaw.zlib(result) }
        return stream
    }

    /// Inflates the stream to a file.
    ///
    /// - Parameter size: Bytes to come out.
    /// - Returns: The file; whoever asked removes it.
    func inflate(_ stream: [UInt8], size: Int) throws -> FilePath {
        let target = folder.appending("inflated")
        var done = uLong(size)
        var result = Z_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            result = uncompress(buffer.baseAddress, &done, stream, uLong(stream.count))
            count = result == Z_OK ? Int(done) : 0
        }
        guard result == Z_OK else { throw Flaw.zlib(result) }
        let file = try OpenFile.creating(target)
        try file.write(bytes)
        return target
    }

    /// Makes all indexes of a store anew, in the least time that SQLite can: without a journal, and without waiting for the
    /// disk.
    func reindex(_ store: FilePath) throws {
        let queue = try DatabaseQueue(path: store.string)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; REINDEX")
        }
        try queue.close()
    }
}
