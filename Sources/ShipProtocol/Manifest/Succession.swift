/// Whether a shipment brings a later state of the store that a consumer holds under its name.
///
/// Source: `Protocol/README.md` section 4.10.
public enum Succession {
    /// Why it does not, as far as the two manifests tell.
    public enum Flaw: Error, Hashable, Sendable {
        /// The store that is held has an identity, and this one has another, or none.
        case otherIdentity
        /// Neither has one, and no table of the one has the name of a table of the other.
        case noTableInCommon
        /// Neither has one, one of the manifests does not name its tables, and the schemas differ.
        case otherSchema
        /// There is nothing in it, and there is something in the store that is held.
        case isEmpty
    }

    /// What becomes of a store without a row that comes in place of one with rows, where no identity says that it is the same.
    public enum Emptied: Hashable, Sendable { case refused, taken }

    /// A store of the same identity is welcome whatever is in it: it may have been migrated, or emptied.
    package static func check(
        _ manifest: Manifest, follows held: Manifest, _ emptied: Emptied
    ) throws(Flaw) {
        if let identity = held.identity {
            guard manifest.identity == identity else { throw .otherIdentity }
            return
        }
        guard held.hasTables else { return }
        guard manifest.hasTables else { throw .isEmpty }
        if let ours = held.tableNames, let theirs = manifest.tableNames {
            guard !ours.isDisjoint(with: theirs) else { throw .noTableInCommon }
        } else {
            guard manifest.store.schemaSHA256 == held.store.schemaSHA256 else { throw .otherSchema }
        }
        if emptied == .refused, held.hasRows, !manifest.hasRows { throw .isEmpty }
    }
}

extension Manifest {
    /// A table takes a page beside that of the schema.
    fileprivate var hasTables: Bool { tableNames.map { !$0.isEmpty } ?? (store.pageCount > 1) }

    /// As SQLite compares them; the one that this program makes itself tells nothing of a store.
    fileprivate var tableNames: Set<String>? {
        tables.map { Set($0.keys.map(\.unescaped.inLowerCase)).subtracting([Self.ownTable]) }
    }

    private static let ownTable = "ship_store_metadata"

    /// Rows that were left out on the user's word are rows.
    fileprivate var hasRows: Bool {
        guard let tables, omissions?.tables.isEmpty ?? true else { return true }
        return tables.contains { $0.key.unescaped.inLowerCase != Self.ownTable && $0.value.rows > 0 }
    }
}

extension String {
    /// A-Z alone.
    fileprivate var inLowerCase: String {
        let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: utf8.map { upper.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
