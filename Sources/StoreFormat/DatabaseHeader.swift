/// The first 100 bytes of a SQLite database, as far as one can check them without reading on.
///
/// Source: sqlite.org/fileformat2.html section 1.3.
package struct DatabaseHeader: Hashable, Sendable {
    /// Length of the header, in bytes.
    package static let size = 100

    /// Bytes a page: a power of two from 512 to 65,536.
    package let pageSize: Int
    /// Whether the store has a write-ahead log: the read version, at offset 19, is 2. It is 1 for a rollback journal, or none.
    package let isInWALMode: Bool
    /// Whether SQLite writes to the store: not if its write version, at offset 18, is above 2 [btree.c, lockBtree].
    package let isWritable: Bool
    /// Bytes at the end of each page that SQLite leaves to extensions.
    package let reservedBytes: Int
    /// Pages of the file, as the header says; 0 or stale in files of SQLite before 3.7.0.
    package let pageCount: Int64

    private static let magic = Array("SQLite format 3\0".utf8)

    /// - Parameter bytes: The beginning of the file; bytes after the header are ignored.
    /// - Throws: `.truncated`, `.wrongMagic`, `.pageSize`, `.journalMode`.
    package init(decoding bytes: [UInt8]) throws(StoreFlaw) {
        guard bytes.starts(with: Self.magic) else {
            throw bytes.count < Self.size && Self.magic.starts(with: bytes.prefix(16))
                ? .truncated(size: bytes.count) : .wrongMagic
        }
        guard bytes.count >= Self.size else { throw .truncated(size: bytes.count) }
        let declared = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = declared == 1 ? 65_536 : declared
        reservedBytes = Int(bytes[20])
        guard (512...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
            throw .pageSize(pageSize, reserved: reservedBytes)
        }
        guard bytes[19] <= 2 else { throw .journalMode(write: bytes[18], read: bytes[19]) }
        isInWALMode = bytes[19] == 2
        isWritable = bytes[18] <= 2
        guard pageSize - reservedBytes >= 480 else { throw .pageSize(pageSize, reserved: reservedBytes) }
        pageCount = bytes[28..<32].reduce(0) { $0 << 8 | Int64($1) }
    }

    /// The header that SQLite would write today for the same pages without a log: with the versions 1, the schema format 4, and one of the
    /// three text encodings, of whose number it reads two bits [prepare.c, sqlite3InitOne].
    ///
    /// - Parameter header: The first 100 bytes of a file.
    package static func modern(_ header: [UInt8]) -> [UInt8] {
        var header = header
        (header[18], header[19]) = (1, 1)
        if header[44..<47] == [0, 0, 0], (1...3).contains(header[47]) { header[47] = 4 }
        if header[56..<59] != [0, 0, 0] || header[59] > 3 {
            header.replaceSubrange(56..<60, with: [0, 0, 0, max(1, header[59] & 3)])
        }
        return header
    }
}
