/// Why a file has no canonical form, or bytes do not make one.
///
/// Source: `Protocol/CANONICAL.md` section 1.
package enum StoreFlaw: Error, Hashable, Sendable {
    case header(DatabaseHeader.Flaw)
    case pageSize(Int, reserved: Int)
    case schemaFormat(UInt32)
    case textEncoding(UInt32)
    /// A page that is not as the format says.
    case page(UInt32, PageFlaw)
    /// A record that is not as the format says, on a page or in a chain that begins there; page 0 for one of rows
    /// that are in no page yet.
    case record(page: UInt32)
    /// Pages that belong to no tree, in the freelist or out of it.
    case unusedPages(Int)
    /// Not as many pages as the header says.
    case pageCount(UInt32, declared: UInt32)
    /// A row of `sqlite_schema` that says what it cannot say, counted from 0.
    case schemaRow(Int)
    /// More b-trees than `SchemaTrees.most`.
    case tooManyTrees
    /// More pages than SQLite can number.
    case tooLarge

    package enum PageFlaw: Hashable, Sendable {
        /// Not in the file, or a page that never holds content.
        case number
        /// It belongs to something else already.
        case usedTwice
        /// Not a page of the kind of its tree.
        case type(UInt8)
        /// A cell, its pointer or its payload is outside of the page.
        case cell(Int)
        /// Deeper than SQLite's own limit of 20 levels, or a leaf that is not as deep as the others.
        case depth
        /// A row that does not come after the one before it, or is beyond the key of a branch that it is in.
        case order
        /// An overflow chain that goes on after its end, or ends before it.
        case chain
        /// An interior page, or a leaf that is no root, without cells.
        case empty
    }
}
