package import SystemPackage

/// Makes the encoders and decoders of a store's rows, and of the changes between two stores.
///
/// Source: `Protocol/COLUMNS.md`, `Protocol/DELTA.md`.
package struct StoreCodec: Sendable {
    package let makeEncoder: @Sendable (StoreToEncode) throws -> any StoreSegmentEncoder
    package let makeDecoder: @Sendable (StoreToDecode) throws -> any StoreSegmentDecoder
    /// - Parameters:
    ///   - base: A file with the same bytes as the one that the receiver has. It does not change meanwhile.
    ///   - limit: Bytes of all segments, at most.
    package let makeDeltaEncoder:
        @Sendable (StoreToEncode, _ base: FilePath, _ limit: Int64) throws -> any StoreSegmentEncoder
    /// - Parameter base: The file that the delta was made against.
    package let makeDeltaDecoder: @Sendable (StoreToDecode, _ base: FilePath) throws -> any StoreSegmentDecoder

    package init(
        makeEncoder: @escaping @Sendable (StoreToEncode) throws -> any StoreSegmentEncoder,
        makeDecoder: @escaping @Sendable (StoreToDecode) throws -> any StoreSegmentDecoder,
        makeDeltaEncoder:
            @escaping @Sendable (StoreToEncode, _ base: FilePath, _ limit: Int64) throws ->
            any StoreSegmentEncoder,
        makeDeltaDecoder: @escaping @Sendable (StoreToDecode, _ base: FilePath) throws -> any StoreSegmentDecoder
    ) {
        self.makeEncoder = makeEncoder
        self.makeDecoder = makeDecoder
        self.makeDeltaEncoder = makeDeltaEncoder
        self.makeDeltaDecoder = makeDeltaDecoder
    }
}
