import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

/// What a store's own rows say of external files.
enum OwnRows: Hashable, Sendable {
    /// Core Data did not make it: nothing in a support folder is its own.
    case none
    case coreData(Set<ExternalFileName>)
    case unreadable

    init(of store: FilePath, waiting busyTimeout: Duration, through held: LiveConnection? = nil) async {
        do throws(SnapshotError) {
            let source = try SourceStore(at: store, busyTimeout: busyTimeout, through: held?.queue)
            guard case .store(let files, isCoreData: true) = try await source.references() else {
                self = .none
                return
            }
            self = .coreData(files)
        } catch {
            self = .unreadable
        }
    }

    /// `nil` if nobody knows.
    var files: Set<ExternalFileName>? {
        switch self {
        case .none: []
        case .coreData(let files): files
        case .unreadable: nil
        }
    }

    var isCoreData: Bool {
        switch self {
        case .coreData: true
        case .none, .unreadable: false
        }
    }
}

extension SupportFolderClaims {
    /// What the stores of the same stem beside a store refer to.
    ///
    /// - Parameters:
    ///   - home: The store whose files are in question; it need not be there.
    ///   - rows: Of a store that is there under its name, and keeps its files.
    ///   - busyTimeout: How long to wait for one that somebody keeps locked.
    ///   - lock: Of the store's support folder; `nil` for a mere look.
    init(
        beside home: StoreHome, besides rows: OwnRows = .none, waiting busyTimeout: Duration,
        under lock: SupportFolderLock?
    ) async {
        var others: [Other] = []
        if rows != .none { others.append(Other(home.path, refersTo: rows.files, isCoreData: true)) }
        do throws(FileError) {
            let neighbours = try StoreNeighbours(of: home)
            for path in neighbours.paths {
                switch await ReferringFile(at: path, busyTimeout: busyTimeout) {
                case .noStore: continue
                case .store(let files, let isCoreData):
                    others.append(Other(path, refersTo: files, isCoreData: isCoreData))
                case .unreadable: others.append(Other(path, refersTo: nil, isCoreData: false))
                }
            }
            // The same rows stay under another name, and so does all that they refer to.
            others += neighbours.otherNames.map { Other($0, refersTo: nil, isCoreData: true) }
        } catch {
            others.append(Other(home.folder, refersTo: nil, isCoreData: false))
        }
        self.init(of: others, under: lock)
    }
}
