import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

extension ReferringFile {
    /// Reads a file that is a store: if that fails, the store has rows that cannot be read.
    init(ofStore store: FilePath, waiting busyTimeout: Duration, through held: LiveConnection? = nil) async {
        do throws(SnapshotError) {
            self = try await SourceStore(at: store, busyTimeout: busyTimeout, through: held?.queue).references()
        } catch {
            self = .unreadable
        }
    }

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
    ///   - busyTimeout: How long to wait for a store that another program keeps locked.
    ///   - lock: The lock of the store's support folder; `nil` if nothing is going to change.
    init(
        beside home: StoreHome, besides rows: ReferringFile = .noStore, waiting busyTimeout: Duration,
        under lock: SupportFolderLock?
    ) async {
        var others: [(path: FilePath, files: Set<ExternalFileName>?, isCoreData: Bool)] = []
        if rows.isCoreData || rows == .unreadable { others.append((home.path, rows.ownFiles, isCoreData: true)) }
        do throws(FileError) {
            let neighbours = try home.neighbours()
            for path in neighbours.paths {
                switch await ReferringFile(at: path, busyTimeout: busyTimeout) {
                case .noStore: continue
                case .store(let files, let isCoreData):
                    others.append((path, files, isCoreData))
                case .unreadable: others.append((path, nil, isCoreData: false))
                }
            }
            // The same rows stay under another name, and so do the files that they refer to.
            others += neighbours.otherNames.map { ($0, nil, isCoreData: true) }
        } catch {
            others.append((home.folder, nil, isCoreData: false))
        }
        self.init(of: others, under: lock)
    }
}
