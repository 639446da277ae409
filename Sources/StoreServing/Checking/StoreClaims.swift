import EssentialFoundation
public import ShipProtocol
import StoreFiles

/// What a manifest says that its store can be asked for.
package struct StoreClaims: Hashable, Sendable, Codable {
    package let store: StoreFacts
    package let identity: ForeignText?
    /// Of the version hashes of its entities; `nil` for a store that Core Data did not make.
    package let modelDigest: ContentDigest?
    /// What was left out of it, on its producer's word.
    package let omissions: Omissions?
    /// What is in each of its tables; `nil` if nothing is said of that.
    package let tables: [ForeignText: TableContent]?

    package init(
        store: StoreFacts, identity: ForeignText? = nil, coreData: Manifest.CoreDataFacts? = nil,
        omissions: Omissions? = nil, tables: [ForeignText: TableContent]? = nil
    ) {
        self.store = store
        self.identity = identity
        modelDigest = coreData.map { Self.digest(of: $0.entityVersionHashes) }
        self.omissions = omissions
        self.tables = tables
    }

    package init(_ manifest: Manifest) {
        self.init(
            store: manifest.store, identity: manifest.identity, coreData: manifest.coreData,
            omissions: manifest.omissions, tables: manifest.tables)
    }

    /// - Parameter hashes: Entity name to hash, in base64.
    static func digest(of hashes: [ForeignText: String]) -> ContentDigest {
        let lines = hashes.sorted { $0.key < $1.key }
        return ContentDigest(
            hashing: lines.flatMap { line in
                // The same bytes may be written in several ways.
                Array(line.key.unescaped.utf8) + [0]
                    + (Data(base64Encoded: line.value).map(Array.init) ?? Array(line.value.utf8))
            })
    }
}

/// What checking a store may cost, and how far it goes.
public struct CheckLimits: Hashable, Sendable, Codable {
    /// How long SQLite may take over all of its checks.
    public var time: Duration
    /// Bytes that SQLite may take, and the process that it runs in where that is one of its own. Among an app's other work it is
    /// kept by stages: a row may have an eighth of it, and what SQLite holds is looked at between instructions.
    public var memory: Int64
    /// Stores up to this size, in bytes, pass `integrity_check` too, which compares each index with its table; it takes some
    /// ten times as long as `quick_check`, which all have to pass.
    public var fullCheckSize: Int64

    public init(
        time: Duration = .seconds(120), memory: Int64 = 256 * 1024 * 1024, fullCheckSize: Int64 = 8 * 1024 * 1024
    ) {
        self.time = time
        self.memory = memory
        self.fullCheckSize = fullCheckSize
    }
}

/// What the checks of a store found that is no reason to refuse it.
public struct CheckReport: Hashable, Sendable, Codable {
    public let depth: Depth
    public let foreignKeys: ForeignKeys

    /// How far the checks went.
    public enum Depth: String, Hashable, Sendable, Codable {
        /// `quick_check`: the store was larger than `CheckLimits.fullCheckSize`.
        case quick
        /// `integrity_check` as well; of a larger store where `quick_check` had complaints, of which some are wrong.
        case full
    }

    /// What `foreign_key_check` says: SQLite leaves it to each connection whether foreign keys mean anything.
    public enum ForeignKeys: Hashable, Sendable, Codable {
        case sound
        /// So many rows refer to rows that are not there; no more than `most` are counted.
        case violated(rows: Int)
        /// They refer to what is no key, or to tables that are not there: SQLite's words.
        case unclear(ForeignText)

        /// Rows that are counted.
        public static let most = 1000
    }
}
