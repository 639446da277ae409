/// What a copy says of its tables.
package enum TableDescription: Hashable, Sendable {
    /// How many rows each has, and their digest: one more look at every row.
    case digests
    /// Nothing.
    case none
}
