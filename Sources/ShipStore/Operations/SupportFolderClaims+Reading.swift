import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

extension ReferringFile {
    /// The external files that are the store's own, which only a store of Core Data has; `nil` if its rows cannot be read.
    var ownFiles: Set<ExternalFileName>? {
        switch self {
        case .store(let files, isCoreData: true): files
        case .store, .noStore: []
        case .unreadable: nil
        }
    }

    /// Whether its rows say that Core Data made it.
    var isCoreData: Bool { if case .store(_, isCoreData: true) = self { true } else { false } }
}

extension SupportFolderClaims {
    /// Finds the files to which the stores of the same stem beside a store refer.
    ///
    /// - Parameters:
    ///   - home: The store whose files are in question; it may be gone.
    ///   - rows: The rows of a store that is there under its name, and keeps its files; `.noStore` for none.
    ///   - lock: The lock of the store's support folder; `nil` if nothing is going to change.
    /// - Throws: `SnapshotError`, `FileError`: an error of the system, which proves nothing of what is there.
    init(
        beside home: StoreHome, besides rows: ReferringFile = .noStore, waiting busyTimeout: Duration,
        under lock: SupportFolderLock?
    ) async throws {
        var others: [(path: FilePath, files: Set<ExternalFileName>?, isCoreData: Bool)] = []
        if rows.isCoreData || rows == .unreadable { others.append((home.path, rows.ownFiles, isCoreData: true)) }
        let neighbours: (paths: [FilePath], otherNames: [FilePath])
        do throws(FileError) {
            neighbours = try home.neighbours()
        } catch {
            guard error.errno == .permissionDenied else { throw error }
            // Any file may be in a folder that this user may enter and not list.
            neighbours = ([], [])
            others.append((home.folder, nil, isCoreData: false))
        }
        for path in neighbours.paths {
            switch try await ReferringFile(at: path, busyTimeout: busyTimeout) {
            case .noStore: continue
            case .store(let files, let isCoreData):
                others.append((path, files, isCoreData))
            case .unreadable: others.append((path, nil, isCoreData: false))
            }
        }
        // The same rows stay under another name, and so do the files that they refer to.
        others += neighbours.otherNames.map { ($0, nil, isCoreData: true) }
        self.init(of: others, under: lock)
    }
}
