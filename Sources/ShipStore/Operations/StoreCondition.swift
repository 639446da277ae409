import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

/// What is found at the place of a store that is to get the content of a copy.
enum StoreCondition: Sendable {
    /// SQLite can write to it.
    case usable(StoreSurvey)
    /// Nothing is there; sidecars and external files may be.
    case lost
    /// SQLite cannot open it, for the reason that is given.
    case damaged(String)

    /// Longest pause between two looks: a store that is damaged is so the second time too.
    private static let pause = Duration.milliseconds(100)

    /// Damaged is what SQLite says so of, twice, while it holds its lock on the file. What is busy, what may not be read, and
    /// what the system fails to read, is not.
    ///
    /// - Throws: `OperationError.notADatabase` for what is no file; what a look at a store may throw.
    static func judge(_ home: StoreHome, _ patience: Patience) async throws -> StoreCondition {
        guard let status = try status(of: home) else { return .lost }
        guard status.kind == .file else { throw OperationError.notADatabase(home.path) }
        if DamagedStore.begun(for: home) != nil {
            return .damaged("an earlier restore was cut off while it set it aside")
        }
        // To SQLite this is an empty store; but it removes the log of such a one.
        let others = [home.journal, home.log].map { (try? PlatformCalls.status(of: $0))?.size ?? 0 }
        if status.size == 0, others.contains(where: { $0 > 0 }) {
            return .damaged("\(home.path) has no bytes")
        }
        var damage: String?
        for _ in 1...2 {
            if damage != nil { try await Task.sleep(for: pause) }
            do {
                return .usable(try await look(home, patience))
            } catch {
                damage = Self.damage(error)
                if damage == nil { throw error }
            }
        }
        return .damaged(damage ?? "")
    }

    /// - Returns: `nil` if nothing is there.
    private static func status(of home: StoreHome) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try PlatformCalls.status(of: home.path)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// Endings by which stores are called.
    private static let endings: Set<String> = ["sqlite", "sqlite3", "db", "db3", "sqlitedb", "store", "storedata"]

    /// Whether anything speaks for it that a file which is no store was one: it stays in any case, but under another name.
    static func mayHaveBeenStore(_ home: StoreHome, _ copy: StoreName) -> Bool {
        let (size, name) = ((try? PlatformCalls.status(of: home.path).size) ?? 0, home.path.lastComponent)
        // Whole pages; or what people call one; or what a store has beside itself, while a folder with nothing in it may be
        // this restore's own; or what the copy is called.
        return size % 512 == 0 || endings.contains(name?.extension?.lowercased() ?? "")
            || home.sidecars.contains { (try? PlatformCalls.status(of: $0)) != nil }
            || !home.supportFolder.content().isEmpty
            || copy == StoreName(suggestedBy: home.path)
    }

    private static func look(_ home: StoreHome, _ patience: Patience) async throws -> StoreSurvey {
        do {
            return try await SourceStore(at: home.path, busyTimeout: patience.busyTimeout).survey(.facts)
        } catch SnapshotError.hotJournal {
            // A connection that may write plays it back.
            _ = try LiveConnection(to: home.path, .shared, patience)
            return try await SourceStore(at: home.path, busyTimeout: patience.busyTimeout).survey(.facts)
        }
    }

    /// - Returns: What is wrong with a store, in words; `nil` if the error is about anything else.
    static func damage(_ error: any Error) -> String? {
        switch error {
        case let error as SnapshotError:
            switch error {
            case .notADatabase, .truncated, .corrupt: error.explanation.cause
            default: nil
            }
        case let error as OperationError:
            switch error {
            case .notADatabase, .corrupt: error.explanation.cause
            default: nil
            }
        default: nil
        }
    }
}
