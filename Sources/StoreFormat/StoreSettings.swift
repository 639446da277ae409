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

extension String {
    /// - Parameter textEncoding: SQLite's number for it, as in the header.
    /// - Returns: `nil` if the bytes are not text in this encoding.
    package init?(bytes: ArraySlice<UInt8>, textEncoding: UInt32) {
        guard textEncoding >= 2 else {
            self.init(validating: bytes, as: UTF8.self)
            return
        }
        guard bytes.count % 2 == 0 else { return nil }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { place in
            let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            return textEncoding == 2 ? second << 8 | first : first << 8 | second
        }
        self.init(validating: units, as: UTF16.self)
    }

    /// - Parameter textEncoding: SQLite's number for it.
    package func bytes(textEncoding: UInt32) -> [UInt8] {
        guard textEncoding >= 2 else { return Array(utf8) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * utf16.count)
        for unit in utf16 {
            let unit = textEncoding == 2 ? unit.littleEndian : unit.bigEndian
            withUnsafeBytes(of: unit) { bytes += $0 }
        }
        return bytes
    }
}
