import ShipCompression
import ShipProtocol
import StoreEncoding
import StoreInstall

/// The sender has ended the link before the shipment was complete.
struct SenderGone: Error {}

/// Decodes the data of one part into a staging, in one encoding.
final class PartDecoder {
    /// Why what has come does not decode; always `nil` for blocks, which are what all other encodings fall back to. The shipment fails for
    /// it only if the producer does not send the part in another encoding: the producer may have found the flaw as well.
    private(set) var flaw: CompressionError?
    /// Whether the sender has gone: what comes of it still waits for the next session, and is not decoded in this one.
    private(set) var isAbandoned = false
    /// Bytes of the part that are decoded, about.
    private(set) var bytesDone: Int64 = 0

    private let part: Int
    private let encoding: PartEncoding
    private let staged: StagedGeneration
    /// Bytes of data that may still come.
    private var bytesLeft: Int64
    /// Decodes one DATA, and returns the bytes of the part that are decoded then.
    private let decode: (_ data: [UInt8], _ isLast: Bool) throws -> Int64

    /// - Parameter part: None of its data has come.
    init(
        ofPart part: Int, of manifest: Manifest, in encoding: PartEncoding, into staged: StagedGeneration,
        _ codec: (any StoreCodec)?, over base: HeldGeneration?, _ limits: DecodingLimits
    ) throws {
        let size = manifest.parts[part].size
        self.part = part
        self.encoding = encoding
        self.staged = staged
        // Blocks are limited by the part's size itself.
        bytesLeft = encoding == .blocks ? .max : size + Limits.segmentsOverhead
        switch encoding {
        case .blocks: decode = Self.blocks(ofPart: part, size, into: staged)
        case .delta where part > 0:
            guard let base else { throw BrokenInvariant("a delta without a base") }
            decode = Self.segments {
                FileDeltaBuilder(size: size, DecodingWork(limits)) {
                    try base.file(named: $0)
                } write: {
                    try staged.append($0, toPart: part)
                }
            }
        case .columns, .delta:
            guard let codec else { throw ProtocolError.encodingNotSupported(encoding.rawValue) }
            let store = StoreToDecode(
                path: try staged.storePathForMaking(), facts: manifest.store, room: staged.workingRoom,
                limits: limits, takingSpare: staged.moveSpareToStorePath,
                growing: { try staged.storeGrew(to: $0) })
            decode = Self.segments {
                guard encoding == .delta else { return try codec.makeDecoder(store, over: nil) }
                guard let base else { throw BrokenInvariant("a delta without a base") }
                return try codec.makeDecoder(store, over: base.storePath)
            }
        }
    }

    /// Decodes the next piece.
    ///
    /// - Throws: What ends the shipment. A part that may come in another encoding has a `flaw` instead.
    func append(_ data: [UInt8], isLast: Bool) throws {
        bytesLeft -= Int64(data.count)
        guard bytesLeft >= 0 else { throw ProtocolError.badPart("it is longer than it may be") }
        guard flaw == nil, !isAbandoned else { return }
        do {
            let done = try decode(data, isLast)
            if part == 0, encoding != .blocks { try staged.storeGrew(to: done) }
            bytesDone = done
        } catch is SenderGone {
            isAbandoned = true
        } catch let error as CompressionError where encoding != .blocks {
            flaw = error
            bytesDone = 0
            try staged.discard(part: part)
        }
    }

    private static func blocks(
        ofPart part: Int, _ size: Int64, into staged: StagedGeneration
    ) -> ([UInt8], Bool) throws -> Int64 {
        var (decoder, done) = (BlockDecoder(size: size), Int64(0))
        return { data, isLast in
            let bytes = try decoder.decode(data, isLast: isLast)
            try staged.append(bytes, toPart: part)
            done += Int64(bytes.count)
            return done
        }
    }

    /// - Parameter make: Called when the first data come. A decoder of a store writes the file itself.
    private static func segments(
        _ make: @escaping () throws -> any StoreSegmentDecoder
    ) -> ([UInt8], Bool) throws -> Int64 {
        var made: (any StoreSegmentDecoder)?
        return { data, isLast in
            let decoder = try made ?? make()
            made = decoder
            try decoder.append(data)
            if isLast { try decoder.finish() }
            return decoder.bytesDone
        }
    }
}
