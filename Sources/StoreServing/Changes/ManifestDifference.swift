public import ShipProtocol

/// What is different between two shipments of a store, told from their manifests alone: no row is compared.
public struct ManifestDifference: Hashable, Sendable {
    /// Tables whose content changed, that came or went, sorted by name; `nil` if one of the two manifests does not say what
    /// is in its tables.
    public let tables: [TableChange]?
    /// Whether a table, an index, a view or a trigger was declared, changed or dropped.
    public let hasSchemaChanged: Bool
    public let externalFiles: ExternalFileChanges
    /// The user's pairs that came, went or changed, by their keys.
    public let metadata: [String: ValueChange]

    /// A table with other content than before.
    public struct TableChange: Hashable, Sendable {
        public let name: String
        /// `nil` if there was no such table.
        public let rowsBefore: Int64?
        /// `nil` if there is no such table any more.
        public let rowsAfter: Int64?
    }

    /// External files by their names, each list sorted.
    public struct ExternalFileChanges: Hashable, Sendable {
        public let added: [ExternalFileName]
        public let removed: [ExternalFileName]
        /// Other bytes under the same name.
        public let replaced: [ExternalFileName]

        public var isEmpty: Bool { added.isEmpty && removed.isEmpty && replaced.isEmpty }
    }

    /// A value of the metadata, before and after.
    public struct ValueChange: Hashable, Sendable {
        public let before: String?
        public let after: String?
    }

    /// - Parameters:
    ///   - old: `nil` for the first shipment: everything in it is new.
    ///   - new: What is current now.
    public init(from old: Manifest?, to new: Manifest) {
        tables = Self.tables(old, new)
        hasSchemaChanged = old.map { $0.store.schemaSHA256 != new.store.schemaSHA256 } ?? true
        externalFiles = Self.externalFiles(old?.externalFiles ?? [], new.externalFiles)
        var metadata: [String: ValueChange] = [:]
        for key in Set(new.metadata.keys).union(old?.metadata.keys ?? [:].keys) {
            let change = ValueChange(before: old?.metadata[key], after: new.metadata[key])
            if change.before != change.after { metadata[key] = change }
        }
        self.metadata = metadata
    }

    private static func tables(_ old: Manifest?, _ new: Manifest) -> [TableChange]? {
        guard let after = new.tables, let before = old.map({ $0.tables }) ?? [:] else { return nil }
        return Set(before.keys).union(after.keys).sorted().filter { before[$0] != after[$0] }.map { name in
            TableChange(name: name, rowsBefore: before[name]?.rows, rowsAfter: after[name]?.rows)
        }
    }

    private static func externalFiles(_ old: [ExternalFile], _ new: [ExternalFile]) -> ExternalFileChanges {
        let before = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
        let after = Dictionary(new.map { ($0.name, $0) }) { first, _ in first }
        return ExternalFileChanges(
            added: after.keys.filter { before[$0] == nil }.sorted(),
            removed: before.keys.filter { after[$0] == nil }.sorted(),
            replaced: after.filter { name, file in before[name].map { $0 != file } ?? false }.keys.sorted())
    }
}
