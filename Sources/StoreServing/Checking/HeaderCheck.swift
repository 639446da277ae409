import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

/// What can be known of a store without SQLite: from its size, from its first 100 bytes, and from the sizes of its schema.
///
/// Source: sqlite.org/fileformat2.html section 1.3.
enum HeaderCheck {
    /// - Throws: `.file`, `.header`, `.contradictsManifest`, `.unsound`.
    static func run(on path: FilePath, against facts: StoreFacts) throws(StoreCheck.Flaw) {
        let (size, bytes): (Int64, [UInt8])
        do throws(FileError) {
            let file = try OpenFile.readingWithoutFollowing(path)
            size = try file.size
            bytes = try file.read(DatabaseHeader.size, at: 0)
        } catch {
            throw .file(error)
        }
        guard size == facts.size else { throw .contradictsManifest("size") }
        // The settings are judged as well: SQLite would take an encoding of 4 for one of 0.
        guard let header = try? DatabaseHeader(decoding: bytes), header.journalMode == .rollback,
            let settings = try? StoreSettings(decoding: bytes)
        else { throw .header }
        guard header.pageSize == facts.pageSize else { throw .contradictsManifest("pageSize") }
        guard header.pageCount == facts.pageCount else { throw .contradictsManifest("pageCount") }
        let (pages, rest) = size.quotientAndRemainder(dividingBy: Int64(header.pageSize))
        guard pages > 0, rest == 0, pages == header.pageCount else { throw .header }
        try SchemaSizeCheck.run(on: path, settings)
    }
}
