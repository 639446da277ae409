/// Why a file has no canonical form, or bytes do not make one.
///
/// Source: `Protocol/CANONICAL.md` section 1.
package enum StoreFlaw: Error, Hashable, Sendable {
    /// A header of fewer than 100 bytes, or a file that ends within a page.
    case truncated(size: Int)
    /// The first 16 bytes are not `SQLite format 3` and a NUL: another kind of file, or an encrypted one.
    case wrongMagic
    /// Bytes of a page that are no power of two from 512 to 65,536, or less SQLite's least usable page, 480 bytes, without the reserved ones.
    case pageSize(Int, reserved: Int)
    /// Neither 1 and 1, nor 2 and 2.
    case journalMode(write: UInt8, read: UInt8)
    case schemaFormat(UInt32)
    case textEncoding(UInt32)
    /// A page that breaks the format.
    case page(UInt32, PageFlaw)
    /// A record that breaks the format, on a page or in a chain that begins there; page 0 for rows that are not in a page yet.
    case record(page: UInt32)
    /// Pages that belong to no tree, in the freelist or out of it.
    case unusedPages(Int)
    /// The header declares another number of pages.
    case pageCount(UInt32, declared: UInt32)
    /// The number, from 0, of an invalid row of `sqlite_schema`.
    case schemaRow(Int)
    /// More b-trees than `SchemaTrees.most`.
    case tooManyTrees
    /// More pages than SQLite can number.
    case tooLarge

    package enum PageFlaw: Hashable, Sendable {
        /// Not in the file, or a page that never holds content.
        case number
        /// It is in use elsewhere.
        case usedTwice
        /// Not of the kind of its tree.
        case type(UInt8)
        /// A cell, its pointer or its payload is outside of the page.
        case cell(Int)
        /// Deeper than SQLite's own limit of 20 levels, or a leaf at another depth than the others.
        case depth
        /// A row that is not above the one before it, or is above the key of its branch.
        case order
        /// An overflow chain that goes on after its end, or ends before it.
        case chain
        /// An interior page, or a leaf that is no root, without cells.
        case empty
    }
}
