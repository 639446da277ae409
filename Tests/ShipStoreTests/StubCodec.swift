import ShipCompression
import ShipProtocol
import StoreEncoding
import StoreFiles
import SystemPackage

/// A codec whose segments are the store's bytes, cut into pieces and turned over: for what happens around a codec.
struct StubCodec: StoreCodec {
    enum Encoding: Hashable, Sendable {
        case right
        case unsuitable
        /// After so many segments; those before are right.
        case selfCheckFails(after: Int)
        case selfCheckFailsInTheEnd
        /// What it delivers is not the store, and it does not notice.
        case wrong
    }

    enum Decoding: Hashable, Sendable {
        case right
        /// Takes so many segments, but not the next one.
        case fails(after: Int)
        case failsInTheEnd
        case makesOtherBytes
    }

    var encoding = Encoding.right
    var decoding = Decoding.right
    var pieceSize = 16 * 1024

    static func turned(_ bytes: [UInt8]) -> [UInt8] { bytes.map { ~$0 } }

    func encode(_ store: StoreToEncode, deliver: (EncodedSegment) async throws -> Void) async throws {
        if encoding == .unsuitable { throw EncodingFailure.unsuitable }
        let file = try OpenFile.reading(store.path)
        let size = store.facts.size
        for (index, offset) in stride(from: 0, to: size, by: pieceSize).enumerated() {
            if encoding == .selfCheckFails(after: index) { throw EncodingFailure.selfCheckFailed }
            var piece = Self.turned(try file.read(pieceSize, at: offset))
            if encoding != .right, offset + Int64(pieceSize) >= size { piece[0] ^= 1 }
            try await deliver(
                EncodedSegment(
                    bytes: piece, storeBytes: Int64(piece.count), isLast: offset + Int64(pieceSize) >= size))
        }
        if encoding == .selfCheckFailsInTheEnd { throw EncodingFailure.selfCheckFailed }
    }

    func encode(_: StoreToEncode, over _: FilePath, limit _: Int64, deliver _: (EncodedSegment) async throws -> Void)
        throws
    {
        throw EncodingFailure.unsuitable
    }

    func makeDecoder(_ store: StoreToDecode, over base: FilePath?) throws -> any StoreSegmentDecoder {
        if base != nil { throw CompressionError.damaged(.base) }
        return try StubDecoder(store, decoding)
    }
}

private final class StubDecoder: StoreSegmentDecoder {
    private let store: StoreToDecode
    private let decoding: StubCodec.Decoding
    private let file: OpenFile
    private var count = 0
    private(set) var bytesDone: Int64 = 0

    init(_ store: StoreToDecode, _ decoding: StubCodec.Decoding) throws {
        self.store = store
        self.decoding = decoding
        file = try OpenFile.creating(store.path)
    }

    func append(_ segment: [UInt8]) throws {
        if decoding == .fails(after: count) { throw CompressionError.damaged(.notZlib) }
        count += 1
        bytesDone += Int64(segment.count)
        guard bytesDone <= store.facts.size else { throw CompressionError.damaged(.decodedSize) }
        var piece = StubCodec.turned(segment)
        if decoding == .makesOtherBytes { piece[piece.count - 1] ^= 1 }
        try file.write(piece)
    }

    func finish() throws {
        if decoding == .failsInTheEnd || bytesDone != store.facts.size { throw CompressionError.damaged(.decodedSize) }
    }
}
