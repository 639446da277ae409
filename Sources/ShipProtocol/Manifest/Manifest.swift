/// Describes a shipment: one store, its facts, its external files, and the user's words about them.
///
/// It goes first in a shipment, as JSON, and the consumer keeps it beside the store as `manifest.json`.
/// Source: `Protocol/README.md` section 4.
public struct Manifest: Hashable, Sendable {
    public let name: StoreName
    /// When the copy was taken, to the second, UTC: `2026-11-20T19:04:05Z`.
    public internal(set) var createdAt: Timestamp
    public internal(set) var producer: Software
    public let store: StoreFacts
    /// The identity that every copy of one store has in common, if it has one: `Z_UUID` for Core Data.
    public let identity: ForeignText?
    public let coreData: CoreDataFacts?
    /// In the order in which they are shipped.
    public let externalFiles: [ExternalFile]
    /// Files that the store refers to, that were missing when it was copied, and that the user allowed to be missing.
    public let missingExternalFiles: [ExternalFileName]
    /// The parts that the producer's user had left out; `nil` for nothing.
    public let omissions: Omissions?
    /// The content of each table, by its name, so that a reader can tell two generations apart without their rows; `nil` if the producer
    /// does not say.
    public internal(set) var tables: [ForeignText: TableContent]?
    /// The user's own pairs.
    public let metadata: [String: ForeignText]
    /// The producer's number of this shipment, from 1, higher than of any shipment before; `nil` if the producer has no identity.
    public internal(set) var counter: UInt64?
    /// The base of a delta of the store in one-way mode; `nil` in two-way mode, where the consumer says it, and without a delta.
    public internal(set) var base: Base?
    /// Features that a consumer must know to take this shipment.
    public internal(set) var requires: [ForeignText]

    /// Who made the copy.
    public struct Software: Hashable, Sendable, Codable {
        /// Name and version of the program.
        public let software: ForeignText
        /// Version of the SQLite that made the copy, as `sqlite3_libversion()` gives it.
        public let sqlite: ForeignText

        package init(software: ForeignText, sqlite: ForeignText) {
            self.software = software
            self.sqlite = sqlite
        }
    }

    /// A store that the consumer must already hold.
    public struct Base: Hashable, Sendable, Codable {
        public let sha256: ContentDigest
        /// The content of its manifest, if the external files that this lists do not come again.
        package let content: ManifestContent.ID?

        package init(sha256: ContentDigest, content: ManifestContent.ID? = nil) {
            (self.sha256, self.content) = (sha256, content)
        }
    }

    /// The facts that make a store a Core Data store.
    public struct CoreDataFacts: Hashable, Sendable, Codable {
        /// Entity name to the 32 bytes of its version hash, in base64 as a property list writes it.
        public let entityVersionHashes: [ForeignText: String]

        package init(entityVersionHashes: [ForeignText: String]) {
            self.entityVersionHashes = entityVersionHashes
        }
    }

    package init(
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
    /// The parts in their order: part 0 is the store, part 1 + n is `externalFiles[n]`.
    package var parts: [Part] {
        [Part(size: store.size, sha256: store.sha256)]
            + externalFiles.map { Part(size: $0.size, sha256: $0.sha256) }
    }

    /// One file of a shipment.
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
        var copy = self
        copy.counter = counter
        return copy
    }

    /// The same over another base, or none.
    package func over(_ base: ContentDigest?) -> Manifest {
        var copy = self
        copy.base = base.map { Base(sha256: $0) }
        return copy
    }

    /// The same over a store whose manifest this is: its external files do not come again.
    package func over(_ base: Manifest) -> Manifest {
        var copy = self
        copy.base = Base(sha256: base.store.sha256, content: ManifestContent(of: base).id)
        return copy.repeated(from: base).isEmpty ? over(base.store.sha256) : copy
    }

    /// The external files that do not come in one-way mode, because the base has them: the indexes of the parts, here and there.
    ///
    /// Source: `Protocol/README.md` section 4.12.
    ///
    /// - Parameter base: The manifest of the base.
    package func repeated(from base: Manifest?) -> [Int: Int] {
        guard let base, let content = self.base?.content, content == ManifestContent(of: base).id else { return [:] }
        let there = Dictionary(base.parts.enumerated().dropFirst().map { ($1, $0) }) { first, _ in first }
        let found = parts.enumerated().dropFirst().compactMap { index, part in
            part.size > 0 ? there[part].map { (index, $0) } : nil
        }
        return Dictionary(uniqueKeysWithValues: found)
    }

    /// Bytes of the store and all its external files.
    public var totalSize: Int64 { parts.reduce(0) { $0 + $1.size } }

    /// Whether two shipments would leave the same files and the same words behind.
    ///
    /// The members that are set here do not count: the tables follow from the store, and the others say when, by what and for whom
    /// the copy was made. Every other member counts, a new one too.
    package func hasSameContent(as other: Manifest) -> Bool {
        var alike = other
        alike.createdAt = createdAt
        alike.producer = producer
        alike.tables = tables
        alike.counter = counter
        alike.base = base
        alike.requires = requires
        return alike == self
    }
}
