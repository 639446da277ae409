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

/// The fields of a header that a store's canonical form keeps.
///
/// Source: sqlite.org/fileformat2.html section 1.3; `Protocol/CANONICAL.md` section 3.
package struct StoreSettings: Hashable, Sendable {
    /// Bytes a page: a power of two from 512 to 65,536.
    package let pageSize: Int
    /// Bytes at the end of each page that SQLite leaves to extensions; at least 480 others remain.
    package let reservedBytes: Int
    /// 0 to 4.
    package let schemaFormat: UInt32
    package let cacheSize: UInt32
    package let hasAutoVacuum: Bool
    /// 0 for a store without tables, 1 UTF-8, 2 UTF-16le, 3 UTF-16be.
    package let textEncoding: UInt32
    package let userVersion: UInt32
    package let incrementalVacuum: UInt32
    package let applicationID: UInt32

    package static let highestSchemaFormat: UInt32 = 4
    package static let highestTextEncoding: UInt32 = 3

    /// - Parameter header: The first 100 bytes of the file; the rest is ignored.
    /// - Throws: As `DatabaseHeader`; `.journalMode`, `.schemaFormat`, `.textEncoding`.
    package init(decoding header: [UInt8]) throws(StoreFlaw) {
        let judged = try DatabaseHeader(decoding: header)
        guard header[18] == header[19], header[18] > 0 else {
            throw .journalMode(write: header[18], read: header[19])
        }
        func word(_ offset: Int) -> UInt32 { header[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
        try self.init(
            pageSize: judged.pageSize, reservedBytes: judged.reservedBytes, schemaFormat: word(44), cacheSize: word(48),
            hasAutoVacuum: word(52) != 0, textEncoding: word(56), userVersion: word(60), incrementalVacuum: word(64),
            applicationID: word(68))
    }

    /// - Throws: `.pageSize`, `.schemaFormat`, `.textEncoding`.
    package init(
        pageSize: Int, reservedBytes: Int, schemaFormat: UInt32, cacheSize: UInt32, hasAutoVacuum: Bool,
        textEncoding: UInt32, userVersion: UInt32, incrementalVacuum: UInt32, applicationID: UInt32
    ) throws(StoreFlaw) {
        guard (512...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0, (0...255).contains(reservedBytes),
            pageSize - reservedBytes >= 480
        else { throw .pageSize(pageSize, reserved: reservedBytes) }
        guard schemaFormat <= Self.highestSchemaFormat else { throw .schemaFormat(schemaFormat) }
        guard textEncoding <= Self.highestTextEncoding else { throw .textEncoding(textEncoding) }
        self.pageSize = pageSize
        self.reservedBytes = reservedBytes
        self.schemaFormat = schemaFormat
        self.cacheSize = cacheSize
        self.hasAutoVacuum = hasAutoVacuum
        self.textEncoding = textEncoding
        self.userVersion = userVersion
        self.incrementalVacuum = incrementalVacuum
        self.applicationID = applicationID
    }

    package var integers: IntegerForm { schemaFormat == 4 ? .modern : .legacy }

    /// The first 100 bytes of the canonical form.
    ///
    /// - Parameter highestRoot: The number of the highest root page; the header has it only with auto-vacuum.
    package func header(pageCount: UInt32, highestRoot: UInt32) -> [UInt8] {
        var bytes = Array("SQLite format 3\0".utf8)
        bytes += [UInt8(truncatingIfNeeded: pageSize >> 8), UInt8(truncatingIfNeeded: pageSize >> 16)]
        bytes += [1, 1, UInt8(truncatingIfNeeded: reservedBytes), 64, 32, 32]
        let words: [UInt32] = [
            0, pageCount, 0, 0, 1, schemaFormat, cacheSize, hasAutoVacuum ? highestRoot : 0, textEncoding, userVersion,
            incrementalVacuum, applicationID, 0, 0, 0, 0, 0, 0, 0,
        ]
        for word in words { withUnsafeBytes(of: word.bigEndian) { bytes += $0 } }
        return bytes
    }
}
