import Foundation
import GRDB
import SystemPackage
import TestSupport

/// All that an app finds in a store, but the bytes of its external files.
struct StoreState: Equatable {
    let tables: [String: [String]]
    /// Of the external files: their paths in the support folder.
    let references: Set<String>
    let identity: String?
    /// What an app has written beside all this (`Clients/writer.py`), which is not part of the state.
    let log: Set<Int>
    let hasLog: Bool

    static func == (left: StoreState, right: StoreState) -> Bool {
        left.tables == right.tables && left.references == right.references && left.identity == right.identity
    }

    /// - Returns: `nil` for a store that SQLite does not find whole.
    fileprivate init?(opening path: FilePath) {
        do {
            let queue = try TestStore.open(path)
            defer { try? queue.close() }
            (tables, references, identity, log, hasLog) = try queue.read { database in
                guard try String.fetchAll(database, sql: "PRAGMA integrity_check") == ["ok"] else { throw Unsound() }
                let tables = try Self.tables(database)
                let hasLog = try database.tableExists(Self.logTable)
                let log = hasLog ? try Set(Int.fetchAll(database, sql: "SELECT n FROM \(Self.logTable)")) : []
                guard try database.tableExists("ZPHOTO") else { return (tables, [], nil, log, hasLog) }
                let cells = try Data.fetchAll(database, sql: "SELECT ZDATA FROM ZPHOTO WHERE ZDATA IS NOT NULL")
                return (
                    tables, Set(cells.compactMap(Self.reference)),
                    try String.fetchOne(database, sql: "SELECT Z_UUID FROM Z_METADATA"), log, hasLog
                )
            }
        } catch {
            return nil
        }
    }

    private struct Unsound: Error {}

    static let logTable = "app_log"

    /// Without what a copy says of itself: that something was left out of it.
    private static func tables(_ database: Database) throws -> [String: [String]] {
        let mark = "ship_store_omissions"
        return try StoreContent(database).tables.filter { $0.key != mark && $0.key != logTable }
            .mapValues { rows in rows.filter { !$0.contains(mark) } }
    }

    private static func reference(_ cell: Data) -> String? {
        guard cell.first == 2, cell.count >= 37 else { return nil }
        return UUID(uuidString: String(decoding: cell.dropFirst().prefix(36), as: UTF8.self)).map {
            "_EXTERNAL_DATA/\($0.uuidString)"
        }
    }
}

/// Reads stores out of snapshots, in a folder of its own: a look at the store itself would change what is beside it.
final class StoreReader {
    private let folder: FilePath
    private var known: [[Data?]: StoreState?] = [:]

    init(in folder: FilePath) { self.folder = folder }

    /// - Returns: `nil` if there is none, or if it is damaged.
    func state(of path: String, in snapshot: Snapshot) -> StoreState? {
        guard snapshot.bytes(of: path).map({ !$0.isEmpty }) == true else { return nil }
        let endings = ["", "-wal", "-journal"]
        let contents = endings.map { snapshot.bytes(of: path + $0) }
        if let state = known[contents] { return state }
        let look = folder.appending("look.sqlite").string
        for (ending, content) in zip(endings + ["-shm"], contents + [nil]) {
            try? FileManager.default.removeItem(atPath: look + ending)
            if let content { try? content.write(to: URL(fileURLWithPath: look + ending)) }
        }
        let state = StoreState(opening: FilePath(look))
        known[contents] = .some(state)
        return state
    }
}
