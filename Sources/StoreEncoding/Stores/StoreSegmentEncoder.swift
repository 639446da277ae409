/// Encodes a store as segments.
package protocol StoreSegmentEncoder: Sendable {
    /// Encodes the whole store, or what follows the segments of an earlier session. In that case `storeBytes` of the first new segment
    /// include those of the earlier ones.
    ///
    /// The call returns when all segments are delivered and the self-check, if there is one, has passed. It can fail after the last
    /// segment: until it returns, the receiver can discard all that was delivered.
    ///
    /// - Parameter deliver: Gets the segments in order. While it waits, a bounded number of others are encoded ahead. An error that
    ///   it throws ends the encoding, and is rethrown.
    /// - Throws: `EncodingFailure`, `EarlierPieces.Mismatch`, `CancellationError`, and the errors of reading the store.
    func encode(deliver: (EncodedSegment) async throws -> Void) async throws
}
