import CoreDataReading
import Dispatch
import ShipProtocol
import StoreFiles
import StoreFormat
import Synchronization
import SystemPackage

/// Whether there is in the tables of a store what its manifest says: a walk over its pages, without SQLite and beside it, in a
/// thread of its own.
///
/// Source: `Protocol/README.md` section 4.8.
final class TableCheck: Sendable {
    private struct TimeIsOver: Error {}

    private let claims: [ForeignText: TableContent]
    private let limits: CheckLimits
    private let isWanted = Atomic(true)
    private let outcome = Mutex<Result<[ForeignText: TableContent], any Error>?>(nil)
    private let reading = DispatchGroup()

    /// Starts to read.
    init(of path: FilePath, against claims: [ForeignText: TableContent], _ limits: CheckLimits) {
        self.claims = claims
        self.limits = limits
        let end = ContinuousClock.now + limits.time
        DispatchQueue(label: "ship-store tables").async(group: reading) {
            let found = Result {
                try TableDigests.read(path) {
                    guard self.isWanted.load(ordering: .relaxed) else { throw CancellationError() }
                    if ContinuousClock.now >= end { throw TimeIsOver() }
                }.contents
            }
            self.outcome.withLock { $0 = found }
        }
    }

    /// Ends the reading, if it has not ended yet: nothing reads the store any more.
    func end() {
        isWanted.store(false, ordering: .relaxed)
        reading.wait()
    }

    /// Waits for the end of it.
    ///
    /// - Throws: `.contradictsManifest`, `.unsound`, `.tookTooLong`, `.file`.
    func finish() throws(StoreCheck.Flaw) {
        reading.wait()
        switch outcome.withLock({ $0 }) {
        case .success(let found): guard found == claims else { throw .contradictsManifest("tables") }
        case .failure(let error as FileError): throw .file(error)
        case .failure(is TimeIsOver): throw .tookTooLong(limits.time)
        case .failure, nil: throw .unsound("the pages of its tables lead astray")
        }
    }
}

/// Whether a store lacks what its manifest says was left out of it: tables that were emptied have no rows, and external
/// files that do not come are referred to.
///
/// Source: `Protocol/README.md` section 4.9.
enum OmissionCheck {
    /// - Throws: `.contradictsManifest`, and what `connection` throws.
    static func run(on connection: CheckConnection, against omissions: Omissions) throws(StoreCheck.Flaw) {
        let tables = Set(
            try connection.rows(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage <> 0"
            ) { ForeignText($0.text(0) ?? "") })
        for table in omissions.tables {
            guard tables.contains(table), try isEmpty(table, connection) else {
                throw .contradictsManifest("omissions.tables")
            }
        }
        if omissions.history {
            for table in CoreDataLayout.history.map({ ForeignText($0) }) where tables.contains(table) {
                guard try isEmpty(table, connection) else { throw .contradictsManifest("omissions.history") }
            }
        }
        guard try references(among: Set(omissions.externalFiles.map(\.name)), connection) else {
            throw .contradictsManifest("omissions.externalFiles")
        }
    }

    private static func isEmpty(_ table: ForeignText, _ connection: CheckConnection) throws(StoreCheck.Flaw) -> Bool {
        // An index of a store that only `quick_check` has seen may lack what its table has.
        let sql = "SELECT 1 FROM \(SQLName.quoted(table.unescaped)) NOT INDEXED"
        return try connection.rows(sql, atMost: 1) { _ in }.isEmpty
    }

    /// Whether the store refers to all of the files.
    private static func references(
        among files: Set<ExternalFileName>, _ connection: CheckConnection
    ) throws(StoreCheck.Flaw) -> Bool {
        var left = files
        guard !left.isEmpty else { return true }
        for table in try connection.rows(ExternalReferenceCell.tables, { $0.text(0) ?? "" }) {
            let declared = try connection.rows("PRAGMA table_info(\(SQLName.quoted(table)))") { row in
                (name: row.text(1) ?? "", type: row.text(2) ?? "")
            }
            let columns = ExternalReferenceCell.columns(among: declared)
            guard !columns.isEmpty else { continue }
            _ = try connection.rows(ExternalReferenceCell.query(table, columns)) { row in
                for column in 1...columns.count {
                    if let name = ExternalReferenceCell.name(in: row.bytes(CInt(column))) { left.remove(name) }
                }
            }
            if left.isEmpty { return true }
        }
        return false
    }
}
