/// The first 100 bytes of a SQLite database, as far as they can be judged without reading on.
///
/// Source: sqlite.org/fileformat2.html section 1.3.
package struct DatabaseHeader: Hashable, Sendable {
    /// Length of the header, in bytes.
    package static let size = 100

    /// Bytes a page: a power of two from 512 to 65,536.
    package let pageSize: Int
    package let journalMode: JournalMode
    /// Bytes at the end of each page that SQLite leaves to extensions.
    package let reservedBytes: Int
    /// Pages of the file as the header says; 0 or stale in files of SQLite before 3.7.0.
    package let pageCount: Int64

    /// What header bytes 18 and 19 say together.
    package enum JournalMode: Hashable, Sendable {
        /// Both are 1: a rollback journal, or none.
        case rollback
        /// Both are 2: a write-ahead log.
        case writeAheadLog
    }

    /// What is wrong with a header.
    package enum Flaw: Error, Hashable, Sendable {
        /// Fewer than 100 bytes.
        case truncated(size: Int)
        /// The first 16 bytes are not `SQLite format 3` and a NUL: another kind of file, or an encrypted one.
        case wrongMagic
        /// Not a power of two from 512 to 65,536.
        case pageSize(Int)
        /// Not 1 and 1, or 2 and 2.
        case journalMode(write: UInt8, read: UInt8)
        /// The usable part of a page is below SQLite's least, 480 bytes.
        case reservedBytes(Int)
    }

    private static let magic = Array("SQLite format 3\0".utf8)

    /// - Parameter bytes: The beginning of the file; what follows the header is not looked at.
    package init(decoding bytes: [UInt8]) throws(Flaw) {
        guard bytes.starts(with: Self.magic) else {
            throw bytes.count < Self.size && Self.magic.starts(with: bytes.prefix(16))
                ? .truncated(size: bytes.count) : .wrongMagic
        }
        guard bytes.count >= Self.size else { throw .truncated(size: bytes.count) }
        let declared = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = declared == 1 ? 65_536 : declared
        guard (512...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0 else { throw .pageSize(pageSize) }
        switch (bytes[18], bytes[19]) {
        case (1, 1): journalMode = .rollback
        case (2, 2): journalMode = .writeAheadLog
        case (let write, let read): throw .journalMode(write: write, read: read)
        }
        reservedBytes = Int(bytes[20])
        guard pageSize - reservedBytes >= 480 else { throw .reservedBytes(reservedBytes) }
        pageCount = bytes[28..<32].reduce(0) { $0 << 8 | Int64($1) }
    }
}
