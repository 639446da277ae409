extension Manifest {
    /// The rule of succession: whether a shipment brings a later state of the store that a consumer holds under its name.
    ///
    /// It accepts any content of a store with the same identity: the app may have migrated or emptied the store.
    ///
    /// Source: `Protocol/README.md` section 4.10.
    ///
    /// - Parameters:
    ///   - allowsEmpty: Whether a store without rows may replace one with rows, if no identity says that they are the same store.
    ///   - readTables: Reads the names of the tables of both stores, for manifests that do not tell them; `nil` if the stores cannot be
    ///     read. Without it, as long as the new store has not come, such manifests are given the benefit of the doubt.
    package func checkSuccession(
        to held: Manifest, allowingEmpty allowsEmpty: Bool,
        readTables: (() -> (held: Set<String>, new: Set<String>)?)? = nil
    ) throws(SuccessionError) {
        if let known = held.identity {
            guard identity == known else { throw .otherIdentity }
            return
        }
        guard held.hasTables else { return }
        guard hasTables else { throw .isEmpty }
        if let ours = held.tableNames, let theirs = tableNames {
            guard !ours.isDisjoint(with: theirs) else { throw .noTableInCommon }
        } else if let readTables, store.schemaSHA256 != held.store.schemaSHA256 {
            guard let names = readTables() else { throw .otherSchema }
            let (ours, theirs) = (Self.comparable(names.held), Self.comparable(names.new))
            guard ours.isEmpty || !ours.isDisjoint(with: theirs) else { throw .noTableInCommon }
        }
        if !allowsEmpty, held.hasRows, !hasRows { throw .isEmpty }
    }

    /// Whether it has each table of another one, by name: more than succession asks for, as what is replaced by this store is gone.
    package func hasAllTables(of older: Manifest) -> Bool {
        guard let ours = tableNames, let theirs = older.tableNames else { return false }
        return theirs.isSubset(of: ours)
    }

    /// Whether it has tables: each takes a page beside that of the schema.
    fileprivate var hasTables: Bool { tableNames.map { !$0.isEmpty } ?? (store.pageCount > 1) }

    /// As SQLite compares them, and without the tables that this program makes itself, which tell nothing of a store.
    fileprivate var tableNames: Set<String>? {
        tables.map { Self.comparable(Set($0.keys.map(\.unescaped))) }
    }

    private static func comparable(_ names: Set<String>) -> Set<String> {
        Set(names.map(\.inLowerCase)).subtracting(ownTables)
    }

    private static let ownTables: Set = ["ship_store_metadata", "ship_store_omissions"]

    /// Whether it has rows, as far as the manifest tells. Rows that the user had left out count.
    package var hasRows: Bool {
        guard let tables, omissions?.tables.isEmpty ?? true else { return true }
        return tables.contains { !Self.ownTables.contains($0.key.unescaped.inLowerCase) && $0.value.rows > 0 }
    }
}

extension String {
    /// Only A-Z change, as SQLite compares names.
    package var inLowerCase: String {
        let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: utf8.map { upper.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
