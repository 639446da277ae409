/// A cell of a page, without its child.
struct TreeWriterCell {
    var bytes: [UInt8]
    /// The first page of its overflow chain; 0 if there is none.
    var chain: UInt32
}
