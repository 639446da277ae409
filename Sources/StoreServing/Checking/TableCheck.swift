import CoreDataReading
import Dispatch
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage

/// Checks the content of a store's tables against its manifest: walks over its pages without SQLite, in a thread of its own,
/// while SQLite runs its checks.
///
/// Source: `Protocol/README.md` section 4.8.
final class TableCheck: Sendable {
    private let claims: [ForeignText: TableContent]
    private let isWanted = Atomic(true)
    private let outcome = Mutex<Result<[ForeignText: TableContent], any Error>?>(nil)
    private let reading = DispatchGroup()

    /// Starts to read.
    init(of path: FilePath, against claims: [ForeignText: TableContent], _ limits: CheckLimits) {
        self.claims = claims
        let end = ContinuousClock.now + limits.time
        DispatchQueue(label: "ship-store tables").async(group: reading) {
            let found = Result {
                try TableDigests.read(path) {
                    guard self.isWanted.load(ordering: .relaxed) else { throw CancellationError() }
                    if ContinuousClock.now >= end { throw StoreCheck.Flaw.tookTooLong(limits.time) }
                }.contents
            }
            self.outcome.withLock { $0 = found }
        }
    }

    /// Ends the reading, if it has not ended yet. Nothing reads the store when this returns.
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
        case .failure(let flaw as StoreCheck.Flaw): throw flaw
        case .failure, nil: throw .unsound("the pages of its tables lead astray")
        }
    }
}

/// Checks that a store lacks what its manifest says was left out of it: the tables that were emptied have no rows, and the store
/// refers to the external files that were not sent.
///
/// Source: `Protocol/README.md` section 4.9.
extension CheckConnection {
    /// - Throws: `.contradictsManifest`, and what `rows` throws.
    func check(_ omissions: Omissions) throws(StoreCheck.Flaw) {
        let tables = Set(
            try rows(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage <> 0"
            ) { ForeignText($0.text(0) ?? "") })
        for table in omissions.tables {
            guard tables.contains(table), try isEmpty(table) else {
                throw .contradictsManifest("omissions.tables")
            }
        }
        if omissions.history {
            for table in CoreDataLayout.history.map({ ForeignText($0) }) where tables.contains(table) {
                guard try isEmpty(table) else { throw .contradictsManifest("omissions.history") }
            }
        }
        guard try refers(toAll: Set(omissions.externalFiles.map(\.name))) else {
            throw .contradictsManifest("omissions.externalFiles")
        }
    }

    private func isEmpty(_ table: ForeignText) throws(StoreCheck.Flaw) -> Bool {
        // After `quick_check` alone, an index may lack entries that its table has.
        let sql = "SELECT 1 FROM \(table.unescaped.quotedSQLName) NOT INDEXED"
        return try rows(sql, atMost: 1) { _ in }.isEmpty
    }

    private func refers(toAll files: Set<ExternalFileName>) throws(StoreCheck.Flaw) -> Bool {
        var left = files
        guard !left.isEmpty else { return true }
        for table in try rows(ExternalReferenceCell.tables, { $0.text(0) ?? "" }) {
            let declared = try rows("PRAGMA table_info(\(table.quotedSQLName))") { row in
                (name: row.text(1) ?? "", type: row.text(2) ?? "")
            }
            let columns = ExternalReferenceCell.columns(among: declared)
            guard !columns.isEmpty else { continue }
            _ = try rows(ExternalReferenceCell.query(table, columns)) { row in
                for column in 1...columns.count {
                    if let name = ExternalReferenceCell.name(in: row.bytes(CInt(column))) { left.remove(name) }
                }
            }
            if left.isEmpty { return true }
        }
        return false
    }
}
