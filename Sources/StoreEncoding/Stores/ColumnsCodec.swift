package import ShipCompression
package import ShipProtocol
package import StoreFormat
package import SystemPackage

/// Makes the encoders and decoders of a store's rows, and of the changes between two stores.
///
/// Source: `Protocol/COLUMNS.md`, `Protocol/DELTA.md`.
package struct ColumnsCodec: Sendable {
    package let makeEncoder: @Sendable (StoreToEncode) throws -> any ColumnsEncoder
    package let makeDecoder: @Sendable (StoreToDecode) throws -> any ColumnsDecoder
    /// - Parameters:
    ///   - base: A file with the same bytes as the one that the receiver has. It does not change meanwhile.
    ///   - limit: Bytes of all segments, at most.
    package let makeDeltaEncoder:
        @Sendable (StoreToEncode, _ base: FilePath, _ limit: Int64) throws -> any ColumnsEncoder
    /// - Parameter base: The file that the delta was made against.
    package let makeDeltaDecoder: @Sendable (StoreToDecode, _ base: FilePath) throws -> any ColumnsDecoder

    package init(
        makeEncoder: @escaping @Sendable (StoreToEncode) throws -> any ColumnsEncoder,
        makeDecoder: @escaping @Sendable (StoreToDecode) throws -> any ColumnsDecoder,
        makeDeltaEncoder:
            @escaping @Sendable (StoreToEncode, _ base: FilePath, _ limit: Int64) throws ->
            any ColumnsEncoder,
        makeDeltaDecoder: @escaping @Sendable (StoreToDecode, _ base: FilePath) throws -> any ColumnsDecoder
    ) {
        self.makeEncoder = makeEncoder
        self.makeDecoder = makeDecoder
        self.makeDeltaEncoder = makeDeltaEncoder
        self.makeDeltaDecoder = makeDeltaDecoder
    }
}

/// A store that an encoder reads, and how it is encoded.
package struct StoreToEncode: Sendable {
    /// A copy, which does not change meanwhile.
    package let path: FilePath
    package let facts: StoreFacts
    /// The shapes of its indexes, by their names; `nil` for a store that is not in canonical form: a delta of it goes by its bytes.
    package let shapes: [String: IndexShape]?
    /// The encoder reads it before each segment.
    package let settings: CompressionSettings
    /// Whether the encoder decodes what it encodes, and compares it with the store.
    package let selfCheck: Bool
    /// How many segments are encoded at once.
    package let cores: Int
    /// Whether a link has nothing to do until the first segment is there.
    package let isAwaited: Bool
    /// Counts the bytes of working files.
    package let room: (any SpillSpace)?
    /// The segments of an earlier session, which are not encoded again.
    package let earlier: EarlierPieces?

    package init(
        path: FilePath, facts: StoreFacts, shapes: [String: IndexShape]?, settings: CompressionSettings,
        selfCheck: Bool, cores: Int, isAwaited: Bool, room: (any SpillSpace)? = nil,
        goingOnAfter earlier: EarlierPieces? = nil
    ) {
        self.path = path
        self.facts = facts
        self.shapes = shapes
        self.settings = settings
        self.selfCheck = selfCheck
        self.cores = max(1, cores)
        self.isAwaited = isAwaited
        self.room = room
        self.earlier = earlier
    }
}

/// A store that a decoder makes.
package struct StoreToDecode: Sendable {
    /// Where the decoder creates the store. Its working files are beside it; their names begin with the store's name and `.part-`. The
    /// decoder removes them at its end at the latest.
    package let path: FilePath
    /// As the manifest says. They are not trusted.
    package let facts: StoreFacts
    /// Counts the bytes of working files.
    package let room: (any SpillSpace)?
    package let limits: DecodingLimits

    package init(
        path: FilePath, facts: StoreFacts, room: (any SpillSpace)? = nil, limits: DecodingLimits = DecodingLimits()
    ) {
        self.path = path
        self.facts = facts
        self.room = room
        self.limits = limits
    }
}

/// Why a store, or its changes, cannot be encoded. The producer then takes another encoding.
package enum EncodingFailure: Error, Hashable, Sendable {
    /// The store would not come back byte for byte, or its encoding would not be smaller than the store itself.
    case unsuitable
    /// The delta would be larger than its limit, or than the rows of the store.
    case tooLarge
    /// The self-check found that the segments do not decode to the store.
    case selfCheckFailed
}

/// An encoded piece of a store: the content of one DATA frame of the encodings `columns` and `delta`.
package struct EncodedSegment: Hashable, Sendable {
    /// 1 to `Limits.segmentSize` bytes.
    package let bytes: [UInt8]
    /// Bytes of the store that the segment stands for, about. The sum over all segments is the store's size. It serves the progress
    /// display and the estimate of the encoder's pace.
    package let storeBytes: Int64
    /// What an encoder needs to continue after this segment: see `PieceNote`.
    package let setting: UInt64
    /// Whether it is the last segment.
    package var isLast: Bool

    package init(bytes: [UInt8], storeBytes: Int64, setting: UInt64 = 0, isLast: Bool = false) {
        self.bytes = bytes
        self.storeBytes = storeBytes
        self.setting = setting
        self.isLast = isLast
    }
}

/// Encodes a store as segments.
package protocol ColumnsEncoder: Sendable {
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

/// Decodes segments into a store. It must withstand bytes that an attacker wrote.
///
/// It does not compare the result with the manifest: its caller does that, by size and SHA-256.
package protocol ColumnsDecoder: AnyObject {
    /// Takes the next segment.
    ///
    /// - Throws: `CompressionError` if the segment does not decode: the caller then discards the store, and calls no more. Other
    ///   errors, mostly of the file system, end the session.
    func append(_ segment: [UInt8]) throws

    /// Completes the store's file after the last segment. It does not sync the file.
    ///
    /// - Throws: The errors of `append`.
    func finish() throws

    /// Bytes of the store that are decoded, about: for the progress display.
    var bytesDone: Int64 { get }
}
