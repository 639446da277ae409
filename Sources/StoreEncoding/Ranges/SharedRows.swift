import StoreFormat

/// Which rows of a store are in one that only the consumer has, as a search has found.
package struct SharedRows: Sendable {
    /// Of the consumer's store.
    let settings: StoreSettings
    /// How many trees it has, with that of `sqlite_schema`.
    let treeCount: Int
    /// By the places of the trees; `nil` for a tree of which it has none of the same name, nor of the same rows.
    let trees: [Tree?]

    /// A tree that both have.
    struct Tree: Hashable {
        /// Its place in the consumer's store.
        let base: Int
        /// Whether it has the same name there.
        let isNamed: Bool
        /// Its rows there.
        let baseCount: Int
        /// All rows of both sides, in order.
        let parts: [Part]

        /// Whether it is as it is there, its name too.
        var isSame: Bool { isNamed && parts.allSatisfy { if case .same = $0 { true } else { false } } }
    }

    enum Part: Hashable {
        /// Rows that both have.
        case same(Int)
        /// Rows in whose place the other side has others.
        case other(old: Int, new: Int)
    }
}
