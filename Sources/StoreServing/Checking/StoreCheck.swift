import GRDB
package import ShipProtocol
public import StoreFiles
import StoreFormat
package import SystemPackage

/// Whether a received file, whose digest is right, is a sound store, and the one that its manifest describes.
///
/// Cheap checks that parse nothing come first; nothing of the store's own is run before `quick_check` has passed.
public struct StoreCheck: Sendable {
    /// How long SQLite may take over its checks.
    package static let standardDeadline = Duration.seconds(600)

    private let deadline: Duration

    package init(deadline: Duration = standardDeadline) { self.deadline = deadline }

    /// What is wrong with a store.
    public enum Flaw: Error, Hashable, Sendable {
        /// The header is no SQLite header, or one of a store in WAL mode, or not as the manifest says.
        case header
        /// `quick_check` or another check has complaints; the first of them, as SQLite words it.
        case unsound(String)
        /// A fact is not as the manifest says: its member there.
        case contradictsManifest(String)
        /// The checks took longer than they may.
        case tookTooLong(Duration)
        /// SQLite cannot read the store: its extended result code and its words.
        case unreadable(code: Int32, message: String)
        case file(FileError)
    }

    /// - Parameters:
    ///   - path: The store.
    ///   - facts: What its manifest says.
    package func run(on path: FilePath, against facts: StoreFacts) throws(Flaw) {
        try checkHeader(of: path, against: facts)
        let found: SQLFacts
        do {
            let configuration = HardenedConfiguration.make(trust: .unchecked, longestValue: facts.size)
            let queue = try DatabaseQueue(
                path: DatabaseURI.immutable(path), configuration: configuration)
            found = try queue.unsafeRead { database in
                try CheckDeadline.enforce(deadline, on: database) {
                    let complaints = try String.fetchAll(database, sql: "PRAGMA quick_check(1)")
                    guard complaints == ["ok"] else { throw Flaw.unsound(complaints.first ?? "no answer") }
                    return try SQLFacts(reading: database)
                }
            }
        } catch let flaw as Flaw {
            throw flaw
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            throw .tookTooLong(deadline)
        } catch let error as DatabaseError {
            throw .unreadable(code: error.extendedResultCode.rawValue, message: error.message ?? "")
        } catch {
            throw .unreadable(code: 1, message: "")
        }
        try found.compare(with: facts)
    }

    private func checkHeader(of path: FilePath, against facts: StoreFacts) throws(Flaw) {
        let bytes: [UInt8]
        do throws(FileError) {
            let file = try OpenFile.readingWithoutFollowing(path)
            guard try file.size == facts.size else { throw FileError(.read, path, .invalidArgument) }
            bytes = try file.read(DatabaseHeader.size, at: 0)
        } catch {
            throw .file(error)
        }
        guard let header = try? DatabaseHeader(decoding: bytes), header.journalMode == .rollback else { throw .header }
        guard header.pageSize == facts.pageSize else { throw .contradictsManifest("pageSize") }
    }
}

/// What a store says of itself through SQL.
private struct SQLFacts {
    let pageCount: Int64
    let encoding: String
    let applicationID: Int32
    let userVersion: Int32
    let schema: ContentDigest

    init(reading database: Database) throws {
        pageCount = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        encoding = try String.fetchOne(database, sql: "PRAGMA encoding") ?? ""
        applicationID = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        userVersion = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let rows = try Row.fetchAll(database, sql: "SELECT type, name, tbl_name, sql FROM sqlite_schema")
        schema = ContentDigest(
            hashing: SchemaListing.bytes(
                of: rows.map { row in
                    // SQLite does not look at every column; GRDB's own decoding traps on what is no text.
                    let texts = Array(row.databaseValues).map { String.fromDatabaseValue($0) ?? "" }
                    return SchemaListing.Entry(type: texts[0], name: texts[1], tableName: texts[2], sql: texts[3])
                }))
    }

    func compare(with facts: StoreFacts) throws(StoreCheck.Flaw) {
        guard pageCount == facts.pageCount else { throw .contradictsManifest("pageCount") }
        guard encoding == facts.textEncoding.rawValue else { throw .contradictsManifest("textEncoding") }
        guard applicationID == facts.applicationID else { throw .contradictsManifest("applicationID") }
        guard userVersion == facts.userVersion else { throw .contradictsManifest("userVersion") }
        guard schema == facts.schemaSHA256 else { throw .contradictsManifest("schemaSHA256") }
    }
}
