public import ShipProtocol

/// What a store says of itself, read from the live store without disturbing it.
public struct StoreMetadata: Hashable, Sendable, Encodable {
    /// What stays the same in every copy: `Z_UUID` of a Core Data store.
    public let identity: ForeignText?
    /// `nil` for a store that Core Data did not make.
    public let coreData: CoreData?
    /// The newest transaction of Core Data's persistent history, `Z_PK`: it rises with each change that is tracked.
    public let historyToken: Int64?
    public let sqlite: SQLite
    /// The user's own pairs, which travel with copies and shipments.
    public let metadata: [String: ForeignText]

    /// From `Z_METADATA.Z_PLIST`, as far as it is there.
    public struct CoreData: Hashable, Sendable, Encodable {
        public let storeType: ForeignText?
        public let modelVersionIdentifiers: [ForeignText]
        /// Entity name to the 32 bytes of its version hash, in base64.
        public let entityVersionHashes: [ForeignText: String]
        /// `NSStoreModelVersionHashesDigest`.
        public let versionHashesDigest: ForeignText?
        /// `NSStoreModelVersionChecksumKey`.
        public let modelChecksum: ForeignText?
        /// `NSPersistenceFrameworkVersion`, of the system that wrote the store last.
        public let frameworkVersion: Int?
    }

    /// What SQLite's header and pragmas say.
    public struct SQLite: Hashable, Sendable, Encodable {
        /// Of the file and of its `-wal`, in bytes.
        public let size: Int64
        public let logSize: Int64
        /// Bytes a page.
        public let pageSize: Int
        /// Pages of the store, those in the `-wal` included, and how many of them are free.
        public let pageCount: Int64
        public let freePages: Int64
        public let textEncoding: StoreFacts.TextEncoding
        public let applicationID: Int32
        public let userVersion: Int32
        public let autoVacuum: AutoVacuum
        public let journal: Journal

        public enum AutoVacuum: String, Hashable, Sendable, Encodable {
            case none, full, incremental
        }

        /// What the file itself says: which kind of rollback journal there is, is each connection's own choice.
        public enum Journal: String, Hashable, Sendable, Encodable {
            case rollback
            case writeAheadLog = "wal"
        }
    }
}
