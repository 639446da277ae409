package import SystemPackage

/// Makes the encoders and decoders of a store's rows, and of the changes between two stores.
///
/// Source: `Protocol/COLUMNS.md`, `Protocol/DELTA.md`.
package protocol StoreCodec: Sendable {
    func makeEncoder(_ store: StoreToEncode) throws -> any StoreSegmentEncoder

    func makeDecoder(_ store: StoreToDecode) throws -> any StoreSegmentDecoder

    /// - Parameters:
    ///   - base: A file with the same bytes as the one that the receiver has. It does not change meanwhile.
    ///   - limit: Bytes of all segments, at most.
    func makeDeltaEncoder(
        _ store: StoreToEncode, _ base: FilePath, _ limit: Int64
    ) throws -> any StoreSegmentEncoder

    /// - Parameter base: The file that the delta was made against.
    func makeDeltaDecoder(_ store: StoreToDecode, _ base: FilePath) throws -> any StoreSegmentDecoder
}
