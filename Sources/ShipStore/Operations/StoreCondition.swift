import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

/// The condition of a store that is to get the content of a copy.
enum StoreCondition: Sendable {
    /// SQLite can write to it.
    case usable(StoreSurvey)
    /// Nothing is there; sidecars and external files may be.
    case lost
    /// SQLite cannot open it, for the reason that is given.
    case damaged(String)

    /// The pause between the two looks.
    private static let pause = Duration.milliseconds(100)

    /// A store is damaged if SQLite says so twice, while it holds its lock on the file. A store that is busy, or that may not be
    /// read, is not damaged.
    ///
    /// - Throws: `OperationError.notADatabase` for anything but a file; the errors of `SourceStore.survey`.
    static func find(_ home: StoreHome, _ busyHandler: BusyHandler) async throws -> StoreCondition {
        guard let status = try PlatformCalls.statusIfThere(of: home.path) else { return .lost }
        guard status.kind == .file else { throw OperationError.notADatabase(home.path) }
        if DamagedStore.begun(for: home) != nil {
            return .damaged("an earlier restore was cut off while it set it aside")
        }
        // SQLite takes this for an empty store, and removes the log of an empty store.
        let others = try [home.journal, home.log].map { try PlatformCalls.statusIfThere(of: $0)?.size ?? 0 }
        if status.size == 0, others.contains(where: { $0 > 0 }) {
            return .damaged("\(home.path.text) has no bytes")
        }
        var damage: String?
        for _ in 1...2 {
            if damage != nil { try await Task.sleep(for: pause) }
            do {
                let survey = try await look(home, busyHandler)
                guard try SourceStore.isWritable(at: home.path) else {
                    return .damaged("its header says that it is of a later version of SQLite, which only reads it")
                }
                return .usable(survey)
            } catch {
                damage = Self.damage(error)
                if damage == nil { throw error }
            }
        }
        return .damaged(damage ?? "")
    }

    private static let endings: Set<String> = ["sqlite", "sqlite3", "db", "db3", "sqlitedb", "store", "storedata"]

    /// Whether a damaged file may have been a store. A restore keeps it in any case, under another name.
    static func mayHaveBeenStore(_ home: StoreHome, _ copy: StoreName) throws(FileError) -> Bool {
        let (size, name) = (try PlatformCalls.status(of: home.path).size, home.path.lastComponent)
        // Full pages; or an ending that stores have; or sidecars or external files, while an empty support folder may be this
        // restore's own; or the name of the copy.
        let hasFiles = try !home.supportFolder.content().isEmpty
        return size % 512 == 0 || endings.contains(name?.extension?.lowercased() ?? "") || hasFiles
            || home.sidecars.contains { (try? PlatformCalls.status(of: $0)) != nil }
            || copy == StoreName(suggestedBy: home.path)
    }

    private static func look(_ home: StoreHome, _ busyHandler: BusyHandler) async throws -> StoreSurvey {
        func survey() async throws -> StoreSurvey {
            try await SourceStore(at: home.path, busyTimeout: busyHandler.busyTimeout).survey(externalFiles: false)
        }
        do {
            return try await survey()
        } catch SnapshotError.hotJournal {
            // A connection that may write rolls the transaction back.
            _ = try LiveConnection(to: home.path, busyHandler)
            return try await survey()
        }
    }

    /// - Returns: What a store needs of its app before anything can be told of it, in words; `nil` if the error is about something else.
    static func need(of error: any Error) -> String? {
        switch error {
        case let error as SnapshotError: if case .needsApp = error { error.cause.text } else { nil }
        case let error as OperationError: if case .needsApp = error { error.cause.text } else { nil }
        default: nil
        }
    }

    /// - Returns: What is wrong with this store, in words; `nil` if the error is about another file, or about something else.
    static func damage(_ error: any Error, of home: StoreHome) -> String? {
        switch error {
        case OperationError.notADatabase(let path) where path != home.path,
            OperationError.corrupt(let path, _) where path != home.path,
            SnapshotError.notADatabase(let path) where path != home.path,
            SnapshotError.unsupportedFormat(let path) where path != home.path,
            SnapshotError.truncated(let path, _, _) where path != home.path,
            SnapshotError.corrupt(let path, _) where path != home.path:
            nil
        default: damage(error)
        }
    }

    /// - Returns: What is wrong with a store, in words; `nil` if the error is about something else.
    static func damage(_ error: any Error) -> String? {
        switch error {
        case let error as SnapshotError:
            switch error {
            case .notADatabase, .unsupportedFormat, .logOfNothing, .truncated, .corrupt: error.cause.text
            case .sqlite(let code, _) where OperationError.isDamage(sqlite: code): error.cause.text
            default: nil
            }
        case let error as OperationError: error.isDamage ? error.cause.text : nil
        default: nil
        }
    }
}
