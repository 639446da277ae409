import ShipCompression
import ShipProtocol
import StoreInstall

/// What makes a part of its data, in one encoding.
protocol PartDecoder: AnyObject {
    /// Takes the next piece.
    ///
    /// - Throws: What ends the shipment. A part that may come in another encoding yet does not: see `flaw`.
    func append(_ data: [UInt8], isLast: Bool, to staged: StagedGeneration) throws

    /// Why what has come does not decode. It counts only once the part comes in no other encoding, as the producer may have
    /// found it too.
    var flaw: CompressionError? { get }

    /// Bytes of the part that are done, about.
    var bytesDone: Int64 { get }
}

extension PartEncoding {
    /// What a consumer takes beside what every one takes, as it likes it.
    static func taken(with codec: ColumnsCodec?) -> [PartEncoding] { codec == nil ? [] : [.delta, .columns] }

    /// - Parameters:
    ///   - part: Nothing has come of it.
    ///   - base: What it may refer to.
    func decoder(
        ofPart part: Int, of manifest: Manifest, in staged: StagedGeneration, _ codec: ColumnsCodec?,
        over base: HeldGeneration?
    ) throws -> any PartDecoder {
        let size = manifest.parts[part].size
        switch self {
        case .blocks: return BlocksPartDecoder(part, size: size)
        case .delta where part > 0:
            guard let base else { throw BrokenInvariant("a delta without a base") }
            return SegmentsPartDecoder(part, size: size) {
                FileDeltaBuilder(size: size) {
                    try base.file(named: $0)
                } write: {
                    try staged.append($0, toPart: part)
                }
            }
        case .columns, .delta:
            guard let codec else { throw ProtocolError.encodingNotSupported(rawValue) }
            let store = StoreToMake(
                path: try staged.storePathForMaking(), facts: manifest.store, room: staged.workingRoom)
            return SegmentsPartDecoder(part, size: size) {
                guard self == .delta else { return try codec.makeDecoder(store) }
                guard let base else { throw BrokenInvariant("a delta without a base") }
                return try codec.makeDeltaDecoder(store, base.storePath)
            }
        }
    }
}

private final class BlocksPartDecoder: PartDecoder {
    // Blocks are what everything falls back to.
    let flaw: CompressionError? = nil
    private let part: Int
    private var decoder: BlockDecoder
    private(set) var bytesDone: Int64 = 0

    init(_ part: Int, size: Int64) {
        self.part = part
        decoder = BlockDecoder(size: size)
    }

    func append(_ data: [UInt8], isLast: Bool, to staged: StagedGeneration) throws {
        let bytes = try decoder.decode(data, isLast: isLast)
        try staged.append(bytes, toPart: part)
        bytesDone += Int64(bytes.count)
    }
}

private final class SegmentsPartDecoder: PartDecoder {
    private let part: Int
    private let make: () throws -> any ColumnsDecoder
    private var decoder: (any ColumnsDecoder)?
    /// Bytes of segments that may still come.
    private var room: Int64
    private(set) var flaw: CompressionError?
    private(set) var bytesDone: Int64 = 0

    /// - Parameter make: Is called when the first data come. What it makes of a store writes the file itself.
    init(_ part: Int, size: Int64, _ make: @escaping () throws -> any ColumnsDecoder) {
        self.part = part
        self.make = make
        room = size + Limits.segmentsOverhead
    }

    func append(_ data: [UInt8], isLast: Bool, to staged: StagedGeneration) throws {
        room -= Int64(data.count)
        guard room >= 0 else { throw ProtocolError.badPart(.tooLong) }
        guard flaw == nil else { return }
        do {
            let decoder = try decoder ?? make()
            self.decoder = decoder
            try decoder.append(data)
            if isLast { try decoder.finish() }
            if part == 0 { staged.storeGrew(by: decoder.bytesDone - bytesDone) }
            bytesDone = decoder.bytesDone
        } catch let error as CompressionError {
            flaw = error
            bytesDone = 0
            try staged.discard(part: part)
        }
    }
}
