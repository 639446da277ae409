import GRDBSQLite
public import ShipProtocol
public import StoreFiles
package import SystemPackage

/// Whether a received file, whose digest is right, is a sound store, and the one that its manifest describes.
///
/// Cheap checks that parse nothing come first; nothing of the store's own is run before `quick_check` has passed.
public struct StoreCheck: Sendable {
    private let limits: CheckLimits

    package init(limits: CheckLimits = CheckLimits()) { self.limits = limits }

    /// What is wrong with a store.
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
        /// The process in which the store was checked did not come to a verdict.
        case checkerFailed(CheckerFailure)
        case file(FileError)
    }

    /// What became of a process in which a store was to be checked.
    public enum CheckerFailure: Hashable, Sendable {
        /// It could not be started; errno.
        case notStarted(Int32)
        /// A signal ended it: it has crashed, or somebody has killed it.
        case signalled(Int32)
        /// It ended by itself, with this status.
        case exited(Int32)
        /// What it said is no verdict.
        case saidNonsense
    }

    /// What else the process does in which SQLite checks a store.
    package enum Surroundings: Hashable {
        /// Nothing: its memory can be limited.
        case ownProcess
        case amongOthers
    }

    /// Checks a store in this process.
    ///
    /// - Parameters:
    ///   - path: The store.
    ///   - claims: What its manifest says.
    @discardableResult
    package func run(on path: FilePath, against claims: StoreClaims) throws(Flaw) -> CheckReport {
        try checkHeader(of: path, against: claims)
        return try checkContent(of: path, against: claims, .amongOthers)
    }

    /// The first half, which is not SQLite's.
    package func checkHeader(of path: FilePath, against claims: StoreClaims) throws(Flaw) {
        try HeaderCheck.run(on: path, against: claims.store)
    }

    /// The second half, which is SQLite's.
    package func checkContent(
        of path: FilePath, against claims: StoreClaims, _ process: Surroundings
    ) throws(Flaw) -> CheckReport {
        // It is for all connections of a process (sqlite.org/c3ref/hard_heap_limit64.html).
        if process == .ownProcess { sqlite3_hard_heap_limit64(limits.memory) }
        // It reads the same pages as `quick_check`, and takes as long.
        let tables = claims.tables.map { TableCheck(of: path, against: $0, limits) }
        defer { tables?.end() }
        let connection = try CheckConnection(path, size: claims.store.size, limits, process)
        var depth: CheckReport.Depth = claims.store.size <= limits.fullCheckSize ? .full : .quick
        do throws(Flaw) { try Self.expectSoundness(by: "quick_check", connection) } catch {
            guard case .unsound = error else { throw error }
            // The other one looks at all that the quick one looks at, and has the last word: `quick_check` of SQLite 3.40.1 takes
            // values of a table WITHOUT ROWID for NULL if its key has the columns in another order than the table has.
            depth = .full
        }
        if depth == .full { try Self.expectSoundness(by: "integrity_check", connection) }
        try FoundFacts(reading: connection).compare(with: claims)
        try tables?.finish()
        if let omissions = claims.omissions { try OmissionCheck.run(on: connection, against: omissions) }
        return CheckReport(depth: depth, foreignKeys: try Self.foreignKeys(in: connection))
    }

    private static func expectSoundness(by pragma: String, _ connection: CheckConnection) throws(Flaw) {
        let complaint = try connection.value("PRAGMA \(pragma)(1)") { $0.text(0) ?? "" }
        guard complaint == "ok" else { throw .unsound(CheckConnection.words(complaint ?? "no answer")) }
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
