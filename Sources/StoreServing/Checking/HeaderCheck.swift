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

/// How much there is for SQLite to parse before it can do anything else, found without it: the sizes of the rows of
/// `sqlite_schema`, of which nothing else is read.
///
/// Source: sqlite.org/fileformat2.html sections 1.6 and 2.6.
enum SchemaSizeCheck {
    /// Most tables, indexes, views and triggers. SQLite keeps some hundred bytes of each.
    private static let mostRows = 100_000
    /// Most bytes of all statements. SQLite keeps several times as many.
    private static let mostBytes = 32 * 1024 * 1024

    /// - Throws: `.unsound`, `.file`.
    static func run(on path: FilePath, _ settings: StoreSettings) throws(StoreCheck.Flaw) {
        do {
            let pages = try PageFile(reading: path)
            // A page that leads back to one before it is found here.
            let use = PageUse(pageCount: pages.pageCount)
            var tree = try TreeReader(pages, PageGeometry(settings), root: 1, kind: .table, use: use)
            var (rows, bytes) = (0, 0)
            while let cell = try tree.next() {
                rows += 1
                bytes += min(cell.payloadSize, mostBytes)
                guard rows <= mostRows else { throw StoreCheck.Flaw.unsound("its schema has over \(mostRows) entries") }
                guard bytes <= mostBytes else {
                    throw StoreCheck.Flaw.unsound("its schema has over \(mostBytes) bytes")
                }
            }
        } catch let flaw as StoreCheck.Flaw {
            throw flaw
        } catch let error as FileError {
            throw .file(error)
        } catch {
            throw .unsound("the pages of its schema lead astray")
        }
    }
}
