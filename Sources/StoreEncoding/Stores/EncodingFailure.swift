/// Why a store, or its changes, cannot be encoded. The producer then takes another encoding.
package enum EncodingFailure: Error, Hashable, Sendable {
    /// The store would not come back byte for byte, or its encoding would not be smaller than the store itself.
    case unsuitable
    /// The delta would be larger than its limit, or than the rows of the store.
    case tooLarge
    /// The self-check found that the segments do not decode to the store.
    case selfCheckFailed
}
