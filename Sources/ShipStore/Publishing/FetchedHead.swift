package import ShipProtocol

/// A reader's find in the place of a head.
package enum FetchedHead: Sendable {
    case none
    /// The head that is known.
    case unchanged
    /// At most one byte more than `Limits.headSize`, what the storage calls this state of it, and the digest of the keys with which it was
    /// encrypted; `nil` if it was not.
    case head([UInt8], tag: String, keys: ContentDigest? = nil)
}
