/// The pieces that a walk over a tree hands on: its rows in the order of their keys, each as a cell of a leaf without overflow.
///
/// A cell is the size of the record, the rowid in a table with rowids, and the record; size and rowid are shortest varints. The
/// digest of a table is made of these bytes, row after row.
///
/// Source: `Protocol/README.md` section 4.8.
package enum TreeRows: Sendable {
    case begin(SchemaTrees.Tree, TreeKind)
    /// Complete cells, one after the other.
    case cells([UInt8], count: Int)
    /// A cell begins whose record, of `size` bytes, is too long for memory; the record follows in pieces.
    case longCell(size: Int, rowid: Int64)
    case piece([UInt8])
    /// All pieces of the long cell have come.
    case endOfLongCell
    case end
}
