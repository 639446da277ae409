/// One row of a table, or one entry of an index, as a tree holds it.
package struct TreeCell: Hashable, Sendable {
    /// Of a table's row; 0 in index trees.
    package let rowid: Int64
    /// Bytes of the whole record.
    package let payloadSize: Int
    package let page: UInt32
    /// Where the record begins in the page.
    package let start: Int
    /// Bytes of the record that are in the page.
    package let localSize: Int
    /// The first page of the rest; 0 if there is none.
    package let overflow: UInt32
    /// Bytes that the cell takes in its page, without its pointer.
    let room: Int
}
