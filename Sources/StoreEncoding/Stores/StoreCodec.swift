package import SystemPackage

/// Encodes and decodes a store's rows, and the changes between two stores, as segments.
///
/// Source: `Protocol/COLUMNS.md`, `Protocol/DELTA.md`.
package protocol StoreCodec: Sendable {
    /// Encodes the whole store, or what follows the segments of an earlier session. In that case `storeBytes` of the first new segment
    /// include those of the earlier ones.
    ///
    /// The call returns when all segments are delivered and the self-check, if there is one, has passed. It can fail after the last
    /// segment: until it returns, the receiver can discard all that was delivered.
    ///
    /// - Parameter deliver: Gets the segments in order. While it waits, a bounded number of others are encoded ahead. An error that
    ///   it throws ends the encoding, and is rethrown.
    /// - Throws: `EncodingFailure`, `EarlierPieces.Mismatch`, `CancellationError`, and the errors of reading the store.
    func encode(_ store: StoreToEncode, deliver: (EncodedSegment) async throws -> Void) async throws

    /// The same of the changes to a base.
    ///
    /// - Parameters:
    ///   - base: A file with the same bytes as the one that the receiver has. It does not change meanwhile.
    ///   - limit: Bytes of all segments, at most.
    func encode(
        _ store: StoreToEncode, over base: FilePath, limit: Int64, deliver: (EncodedSegment) async throws -> Void
    ) async throws

    /// - Parameter base: The file that a delta was made against; `nil` for rows.
    func makeDecoder(_ store: StoreToDecode, over base: FilePath?) throws -> any StoreSegmentDecoder
}
