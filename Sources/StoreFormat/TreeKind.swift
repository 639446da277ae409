/// The two kinds of b-trees.
///
/// Source: sqlite.org/fileformat2.html section 1.6.
package enum TreeKind: Hashable, Sendable {
    /// Rows by their rowids, all of them in leaves.
    case table
    /// Entries by their content, in leaves and between them: indexes, and tables WITHOUT ROWID.
    case index

    package var leafType: UInt8 { self == .table ? 13 : 10 }
    package var interiorType: UInt8 { self == .table ? 5 : 2 }
}
