public import ShipProtocol

/// The difference between two generations of a store.
///
/// Tables are compared in the stores themselves. The manifests say the rest, which was checked when they came in.
public struct GenerationDifference: Hashable, Sendable {
    /// Tables whose rows changed, that came or went, sorted by name; `nil` if that cannot be told, as where the generation
    /// before is not kept any more. One that was written anew with the same values may be among them.
    public let tables: [TableChange]?
    /// Whether a table, an index, a view or a trigger was declared, changed or dropped.
    public let hasSchemaChanged: Bool
    public let externalFiles: ExternalFileChanges
    /// The user's pairs that came, went or changed, by their keys.
    public let metadata: [String: ValueChange]

    /// A table with other content than before.
    public struct TableChange: Hashable, Sendable {
        public let name: ForeignText
        /// `nil` if there was no such table.
        public let rowsBefore: Int64?
        /// `nil` if there is no such table any more.
        public let rowsAfter: Int64?
        /// Which rows changed; `nil` unless `StoreCoordinator.changes` was asked to tell rows.
        public internal(set) var rows: RowChanges?
    }

    /// The objects of a Core Data store that changed; `nil` where any of its objects may have changed, and unless rows were asked for.
    ///
    /// Rows of tables that join two entities are no objects.
    public var changedObjects: ChangedObjects? {
        guard let tables else { return nil }
        var objects = ChangedObjects()
        for table in tables where ObjectNames.canBeObjects(table.name) {
            guard case .rows(let rows) = table.rows else { return nil }
            // Rows of entities, which have no names that both stores know.
            if rows.keyColumns == ["Z_PK"], rows.all.contains(where: { $0.objectID == nil }) { return nil }
            objects.inserted += rows.inserted.compactMap(\.objectID)
            objects.updated += rows.updated.compactMap(\.objectID)
            objects.deleted += rows.deleted.compactMap(\.objectID)
        }
        return objects
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
        public let before: ForeignText?
        public let after: ForeignText?
    }

    /// - Parameter old: `nil` for the first shipment: everything in it is new.
    package init(from old: Manifest?, to new: Manifest, tables: [TableChange]?) {
        self.tables = tables
        hasSchemaChanged = old.map { $0.store.schemaSHA256 != new.store.schemaSHA256 } ?? true
        externalFiles = Self.externalFiles(old?.externalFiles ?? [], new.externalFiles)
        var metadata: [String: ValueChange] = [:]
        for key in Set(new.metadata.keys).union(old?.metadata.keys ?? [:].keys) {
            let change = ValueChange(before: old?.metadata[key], after: new.metadata[key])
            if change.before != change.after { metadata[key] = change }
        }
        self.metadata = metadata
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
