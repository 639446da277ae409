/// What a reader finds in the place of a head.
package enum FetchedHead: Sendable {
    case none
    /// The head that is known.
    case unchanged
    /// At most one byte more than `Limits.headSize`, and what the storage calls this state of it.
    case head([UInt8], tag: String)
}
