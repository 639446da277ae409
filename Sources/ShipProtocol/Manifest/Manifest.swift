/// What is shipped: one store, its facts, its external files, and what is said about them.
///
/// It goes first in a shipment, as JSON, and stays beside the store on the consumer as `manifest.json`.
/// Source: `Protocol/README.md` section 4.
public struct Manifest: Hashable, Sendable {
    public let name: StoreName
    /// When the copy was taken, to the second, UTC: `2026-11-20T19:04:05Z`.
    public let createdAt: Timestamp
    public let producer: Software
    public let store: StoreFacts
    /// What stays the same in every copy of one store, if the store has such a thing: `Z_UUID` for Core Data.
    public let identity: ForeignText?
    public let coreData: CoreDataFacts?
    /// In the order in which they are shipped.
    public let externalFiles: [ExternalFile]
    /// Referenced by the store, but not there when it was copied, and shipped without on the user's word.
    public let missingExternalFiles: [ExternalFileName]
    /// What the producer's user wanted to be left out; `nil` if nothing was.
    public let omissions: Omissions?
    /// What is in each table, by its name, so that two generations can be told apart without a look at their rows; `nil`
    /// if the producer does not say.
    public let tables: [ForeignText: TableContent]?
    /// The user's own pairs.
    public let metadata: [String: ForeignText]
    /// The producer's number of this shipment, from 1, higher than that of any before; `nil` if it has no identity.
    public let counter: UInt64?
    /// What a delta of the store refers to where nobody answers; `nil` where the consumer says that, and where none comes.
    public let base: Base?
    /// Names of the features that a consumer must know to take this shipment.
    public let requires: [ForeignText]

    /// Who made the copy.
    public struct Software: Hashable, Sendable, Codable {
        /// Name and version of the program.
        public let software: ForeignText
        /// Version of the SQLite that made the copy, as `sqlite3_libversion()` gives it.
        public let sqlite: ForeignText

        public init(software: ForeignText, sqlite: ForeignText) {
            self.software = software
            self.sqlite = sqlite
        }
    }

    /// A store that the consumer is to have already.
    public struct Base: Hashable, Sendable, Codable {
        public let sha256: ContentDigest

        public init(sha256: ContentDigest) { self.sha256 = sha256 }
    }

    /// What makes a store a Core Data store.
    public struct CoreDataFacts: Hashable, Sendable, Codable {
        /// Entity name to the 32 bytes of its version hash, in base64 as a property list writes it.
        public let entityVersionHashes: [ForeignText: String]

        public init(entityVersionHashes: [ForeignText: String]) {
            self.entityVersionHashes = entityVersionHashes
        }
    }

    public init(
        name: StoreName, createdAt: Timestamp, producer: Software, store: StoreFacts, identity: ForeignText? = nil,
        coreData: CoreDataFacts? = nil, externalFiles: [ExternalFile] = [],
        missingExternalFiles: [ExternalFileName] = [], omissions: Omissions? = nil,
        tables: [ForeignText: TableContent]? = nil, metadata: [String: ForeignText] = [:], counter: UInt64? = nil,
        base: Base? = nil, requires: [ForeignText] = []
    ) {
        self.name = name
        self.createdAt = createdAt
        self.producer = producer
        self.store = store
        self.identity = identity
        self.coreData = coreData
        self.externalFiles = externalFiles
        self.missingExternalFiles = missingExternalFiles
        self.omissions = omissions
        self.tables = tables
        self.metadata = metadata
        self.counter = counter
        self.base = base
        self.requires = requires
    }
}

extension Manifest {
    /// What is carried in blocks, in order: part 0 is the store, part 1 + n is `externalFiles[n]`.
    package var parts: [Part] {
        [Part(size: store.size, sha256: store.sha256)]
            + externalFiles.map { Part(size: $0.size, sha256: $0.sha256) }
    }

    /// One file of a shipment, as the blocks see it.
    package struct Part: Hashable, Sendable {
        /// In bytes.
        package let size: Int64
        package let sha256: ContentDigest

        package init(size: Int64, sha256: ContentDigest) {
            self.size = size
            self.sha256 = sha256
        }
    }

    /// The same with a number.
    package func counted(_ counter: UInt64) -> Manifest {
        Manifest(
            name: name, createdAt: createdAt, producer: producer, store: store, identity: identity, coreData: coreData,
            externalFiles: externalFiles, missingExternalFiles: missingExternalFiles, omissions: omissions,
            tables: tables, metadata: metadata, counter: counter, base: base, requires: requires)
    }

    /// The same over another base, or none.
    package func over(_ base: ContentDigest?) -> Manifest {
        Manifest(
            name: name, createdAt: createdAt, producer: producer, store: store, identity: identity, coreData: coreData,
            externalFiles: externalFiles, missingExternalFiles: missingExternalFiles, omissions: omissions,
            tables: tables, metadata: metadata, counter: counter, base: base.map(Base.init), requires: requires)
    }

    /// Bytes of the store and all its external files.
    public var totalSize: Int64 { parts.reduce(0) { $0 + $1.size } }

    /// Whether two shipments would leave the same files and the same words behind.
    ///
    /// Who made the copy, when, as which of its shipments and over which base, does not count; what is in the tables follows from the store.
    package func hasSameContent(as other: Manifest) -> Bool {
        name == other.name && store == other.store && identity == other.identity && coreData == other.coreData
            && externalFiles == other.externalFiles && missingExternalFiles == other.missingExternalFiles
            && omissions == other.omissions && metadata == other.metadata
    }
}

/// The rules for the user's own pairs: at most 64; keys of `A-Z a-z 0-9 . _ -`, values of any text.
///
/// Source: `Protocol/README.md` section 4.7.
package enum Metadata {
    /// The first rule that the pairs break, in words for people, or `nil`.
    package static func firstFlaw(of pairs: [String: ForeignText]) -> String? {
        guard pairs.count <= Limits.metadataPairs else { return "more than \(Limits.metadataPairs) pairs of metadata" }
        for (key, value) in pairs {
            guard (1...Limits.metadataKeyLength).contains(key.utf8.count), key.utf8.allSatisfy(isAllowedInKey) else {
                return "a metadata key is 1 to \(Limits.metadataKeyLength) letters, digits, dots, dashes or underscores"
            }
            guard value.unescaped.utf8.count <= Limits.metadataValueLength else {
                return "the metadata value of \(key) is longer than \(Limits.metadataValueLength) bytes"
            }
        }
        return nil
    }

    private static func isAllowedInKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
