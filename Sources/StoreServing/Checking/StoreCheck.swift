import GRDBSQLite
public import ShipProtocol
public import StoreFiles
import StoreFormat
package import SystemPackage

/// Checks whether a received file, whose digest is right, is a sound store, and the one that its manifest describes.
///
/// Cheap checks that parse nothing come first; nothing of the store's own is run before `quick_check` has passed.
public struct StoreCheck: Sendable {
    private let limits: CheckLimits

    package init(limits: CheckLimits = CheckLimits()) { self.limits = limits }

    /// A fault of a store.
    public enum Flaw: Error, Hashable, Sendable {
        /// The header is no SQLite header, or one of a store in WAL mode, or the file has not as many pages as it says.
        case header
        /// `quick_check` or `integrity_check` has complaints; the first of them, as SQLite words it. Or there is more in the
        /// schema than can be meant.
        case unsound(ForeignText)
        /// A fact is not as the manifest says: its member there.
        case contradictsManifest(ForeignText)
        /// The checks took longer than they may.
        case tookTooLong(Duration)
        /// The checks took more memory than they may, in bytes.
        case tookTooMuchMemory(Int64)
        /// SQLite cannot read the store: its extended result code and its words.
        case unreadable(code: Int32, message: ForeignText)
        /// The process in which the store was to be checked could not be started; errno.
        case checkerNotStarted(Int32)
        /// A signal ended that process: it crashed, or was killed.
        case checkerSignalled(Int32)
        /// That process ended by itself, with this status, and without a verdict.
        case checkerExited(Int32)
        /// The output of that process is no verdict.
        case checkerSaidNonsense
        case file(FileError)
    }

    /// Checks a store in this process.
    @discardableResult
    package func run(on path: FilePath, against claims: StoreClaims) throws(Flaw) -> CheckReport {
        try checkHeader(of: path, against: claims)
        return try checkContent(of: path, against: claims, inOwnProcess: false)
    }

    /// The second half, which is SQLite's.
    ///
    /// - Parameter inOwnProcess: Whether the process does nothing else: then its memory can be limited.
    package func checkContent(
        of path: FilePath, against claims: StoreClaims, inOwnProcess: Bool
    ) throws(Flaw) -> CheckReport {
        // It is for all connections of a process (sqlite.org/c3ref/hard_heap_limit64.html).
        if inOwnProcess { sqlite3_hard_heap_limit64(limits.memory) }
        // It reads the same pages as `quick_check`, and takes as long.
        let tables = claims.tables.map { TableCheck(of: path, against: $0, limits) }
        defer { tables?.end() }
        let connection = try CheckConnection(path, size: claims.store.size, limits, inOwnProcess: inOwnProcess)
        var depth: CheckReport.Depth = claims.store.size <= limits.fullCheckSize ? .full : .quick
        if try Self.complaint(of: "quick_check", connection) != "ok" {
            // `integrity_check` covers all that `quick_check` covers, and decides: `quick_check` of SQLite 3.40.1 takes values of
            // a table WITHOUT ROWID for NULL if its key has the columns in another order than the table has.
            depth = .full
        }
        if depth == .full {
            let complaint = try Self.complaint(of: "integrity_check", connection)
            if complaint != "ok" { throw connection.refusal ?? .unsound(CheckConnection.words(complaint)) }
        }
        try claims.compare(with: connection)
        try tables?.finish()
        if let omissions = claims.omissions { try connection.check(omissions) }
        return CheckReport(depth: depth, foreignKeys: try Self.foreignKeys(in: connection))
    }

    /// - Returns: `ok` for a sound store, as SQLite words it.
    private static func complaint(of pragma: String, _ connection: CheckConnection) throws(Flaw) -> String {
        try connection.value("PRAGMA \(pragma)(1)") { $0.text(0) ?? "" } ?? "no answer"
    }

    private static func foreignKeys(in connection: CheckConnection) throws(Flaw) -> CheckReport.ForeignKeys {
        do throws(Flaw) {
            let count = try connection.rows("PRAGMA foreign_key_check", atMost: CheckReport.ForeignKeys.most) { _ in }
                .count
            return count == 0 ? .sound : .violated(rows: count)
        } catch .unreadable(_, let message) {
            return .unclear(message)
        }
    }
}

/// The checks that need no SQLite: of a store's size, its first 100 bytes, and the sizes of its schema.
extension StoreCheck {
    /// The first half, which is not SQLite's.
    ///
    /// Source: sqlite.org/fileformat2.html section 1.3.
    ///
    /// - Throws: `.file`, `.header`, `.contradictsManifest`, `.unsound`.
    package func checkHeader(of path: FilePath, against claims: StoreClaims) throws(Flaw) {
        let facts = claims.store
        let (size, bytes): (Int64, [UInt8])
        do throws(FileError) {
            let file = try OpenFile.readingWithoutFollowing(path)
            size = try file.size
            bytes = try file.read(DatabaseHeader.size, at: 0)
        } catch {
            throw .file(error)
        }
        guard size == facts.size else { throw .contradictsManifest("size") }
        // The settings are checked as well: SQLite would take an encoding of 4 for one of 0.
        guard let header = try? DatabaseHeader(decoding: bytes), !header.isInWALMode,
            let settings = try? StoreSettings(decoding: bytes)
        else { throw .header }
        guard header.pageSize == facts.pageSize else { throw .contradictsManifest("pageSize") }
        guard header.pageCount == facts.pageCount else { throw .contradictsManifest("pageCount") }
        let (pages, rest) = size.quotientAndRemainder(dividingBy: Int64(header.pageSize))
        guard pages > 0, rest == 0, pages == header.pageCount else { throw .header }
        try Self.checkSchemaSize(of: path, settings)
    }

    /// Most tables, indexes, views and triggers. SQLite keeps some hundred bytes of each.
    private static let mostSchemaRows = 100_000
    /// Most bytes of all statements. SQLite keeps several times as many.
    private static let mostSchemaBytes = 32 * 1024 * 1024

    /// How much SQLite has to parse before it can do anything else, found without it: only the sizes of the rows of
    /// `sqlite_schema` are read.
    ///
    /// Source: sqlite.org/fileformat2.html sections 1.6 and 2.6.
    ///
    /// - Throws: `.unsound`, `.file`.
    private static func checkSchemaSize(of path: FilePath, _ settings: StoreSettings) throws(Flaw) {
        do {
            let pages = try PageFile(reading: path)
            // A page that leads back to one before it is found here.
            let use = PageUse(pageCount: pages.pageCount)
            var tree = try TreeReader(pages, PageGeometry(settings), root: 1, kind: .table, use: use)
            var (rows, bytes) = (0, 0)
            while let cell = try tree.next() {
                rows += 1
                bytes += min(cell.payloadSize, mostSchemaBytes)
                guard rows <= mostSchemaRows else {
                    throw Flaw.unsound("its schema has over \(mostSchemaRows) entries")
                }
                guard bytes <= mostSchemaBytes else {
                    throw Flaw.unsound("its schema has over \(mostSchemaBytes) bytes")
                }
            }
        } catch let flaw as Flaw {
            throw flaw
        } catch let error as FileError {
            throw .file(error)
        } catch {
            throw .unsound("the pages of its schema lead astray")
        }
    }
}
