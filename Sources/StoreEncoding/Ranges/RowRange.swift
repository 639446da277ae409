/// Rows of a tree that follow each other, up to one at which a range ends by its content.
struct RowRange: Hashable {
    let count: Int
    /// The sum of the digests of its rows, modulo 2^32.
    let digest: UInt32
}
