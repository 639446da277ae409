import ShipCompression
import ShipProtocol
import StoreEncoding
import StoreFiles
import StoreFormat

/// Encodes parts of a shipment in one encoding, piece by piece.
struct PartEncoder: Sendable {
    let encoding: PartEncoding
    let shipment: OutgoingShipment
    /// How hard it works, from piece to piece.
    let settings: CompressionSettings
    /// The base of a delta.
    var base: OutgoingBase?
    /// The knowledge of a base that this side does not have.
    var shared: SharedRows?
    /// Bytes that a delta of the store may take.
    var limit: Int64
    /// Whether a consumer waits at the other end.
    let isAwaited: Bool
    /// Pieces of the first part that an earlier session encoded, in this encoding and over this base: the encoder makes those that
    /// follow. A delta is then made to its end, whatever `limit` says, unless it takes more than the store.
    var earlier: EarlierPieces?

    /// Encodes parts, one after the other.
    ///
    /// - Parameters:
    ///   - parts: Rising indexes, of parts that the encoding suits: the store alone, or external files; a delta is of one file.
    ///   - deliver: Called with one piece after the other. What it throws ends the encoding, and is thrown on.
    /// - Throws: `RestartCause` where the parts have to go in another encoding.
    func encode(_ parts: [Int], deliver: (EncodedPiece) async throws -> Void) async throws {
        do {
            switch encoding {
            case .blocks: try await encodeBlocks(parts, deliver)
            case .columns: try await encodeRows(deliver)
            case .delta where parts.first == 0: try await encodeStoreDelta(deliver)
            case .delta: try await encodeFileDelta(parts, deliver)
            }
        } catch {
            if let cause = RestartCause(error) { throw cause }
            throw error
        }
    }

    private func encodeBlocks(_ parts: [Int], _ deliver: (EncodedPiece) async throws -> Void) async throws {
        let sizes = shipment.manifest.parts.map(\.size)
        let sources = parts.map { index in
            // Opened for each read: there may be thousands of parts, and a read takes a whole block.
            BlockEncoder.Source(part: index, size: sizes[index], goingOnAfter: index == parts.first ? earlier : nil) {
                [path = shipment.path(ofPart: index)] in
                try OpenFile.readingWithoutFollowing(path).read($1, at: $0)
            }
        }
        var skipped = earlier?.notes.reduce(0) { $0 + Int64(clamping: $1.setting) } ?? 0
        try await BlockEncoder(settings, cores: shipment.options.cores).encode(sources) { placed in
            let size = placed.block.decodedSize
            let before = placed.part == parts.first ? skipped : 0
            skipped -= before
            try await deliver(
                EncodedPiece(
                    part: placed.part, data: PartData(placed.block.bytes, isLast: placed.isLast),
                    partBytes: before + Int64(size), note: PieceNote(UInt64(size), isLast: placed.isLast)))
        }
    }

    private func encodeRows(_ deliver: (EncodedPiece) async throws -> Void) async throws {
        try await shipment.options.codec.encode(try storeToEncode) { segment in
            try await deliver(EncodedPiece(segment, part: 0, partBytes: segment.storeBytes))
        }
    }

    private func encodeStoreDelta(_ deliver: (EncodedPiece) async throws -> Void) async throws {
        func deliverPiece(_ segment: EncodedSegment) async throws {
            try await deliver(EncodedPiece(segment, part: 0, partBytes: segment.storeBytes))
        }
        do {
            if let shared {
                return try await encodeStoreDelta(sharing: shared, deliverPiece)
            }
            guard let base else { throw RestartCause.baseGone }
            if earlier == nil, let deltas = shipment.version.deltas {
                try await deltas.deliver(over: base.digest, limit: limit, to: deliverPiece) {
                    try await encodeStoreDelta(over: base, limit: limit, $0)
                }
            } else {
                let limit = earlier == nil ? limit : max(limit, shipment.manifest.store.size)
                try await encodeStoreDelta(over: base, limit: limit, deliverPiece)
            }
        } catch is StoreFlaw {
            throw RestartCause.unsuitable
        }
    }

    private func encodeStoreDelta(
        over base: OutgoingBase, limit: Int64, _ deliver: (EncodedSegment) async throws -> Void
    ) async throws {
        // The digest of the base is computed once, when the base is needed.
        guard let opened = base.open() else { throw RestartCause.baseGone }
        defer { withExtendedLifetime(opened) {} }
        var store = try storeToEncode
        let tables = shipment.manifest.tables ?? [:]
        store.unchanged = Set(tables.lazy.filter { base.tables?[$0.key] == $0.value }.map(\.key))
        try await shipment.options.codec.encode(store, over: opened.path, limit: limit, deliver: deliver)
    }

    private func encodeStoreDelta(
        sharing shared: SharedRows, _ deliver: (EncodedSegment) async throws -> Void
    ) async throws {
        guard let shapes = shipment.version.indexShapes else { throw RestartCause.unsuitable }
        let encoder = AsyncDeltaEncoder(
            settings, sharing: shared, shapes: shapes, limit: shipment.manifest.store.size
        ) { [shipment] in
            try PageFile(reading: shipment.path(ofPart: 0)) { try Task.checkCancellation() }
        }
        try await encoder.encode(deliver: deliver)
    }

    /// An external file as a delta against the one that was in its place.
    private func encodeFileDelta(_ parts: [Int], _ deliver: (EncodedPiece) async throws -> Void) async throws {
        guard let base, let part = parts.first, parts.count == 1,
            let source = shipment.source(ofPart: part, over: base),
            let opened = base.openFile(source)
        else { throw RestartCause.baseGone }
        defer { withExtendedLifetime(opened) {} }
        let size = shipment.manifest.parts[part].size
        do {
            let encoder = AsyncDeltaEncoder(settings, over: source.sha256.bytes, limit: size / 2) {
                [path = shipment.path(ofPart: part)] in
                // What is remembered may go at any time.
                guard let base = try? FileContent(at: opened.path) else { throw CompressionError.damaged(.base) }
                return (base, try FileContent(at: path))
            }
            try await encoder.encode(goingOnAfter: earlier) { segment in
                try await deliver(EncodedPiece(segment, part: part, partBytes: segment.isLast ? size : 0))
            }
        } catch is CompressionError {
            throw RestartCause.baseGone
        }
    }

    private var storeToEncode: StoreToEncode {
        get throws {
            StoreToEncode(
                path: shipment.path(ofPart: 0), facts: shipment.manifest.store, shapes: shipment.version.indexShapes,
                settings: settings, selfCheck: shipment.options.selfCheck, cores: shipment.options.cores,
                isAwaited: isAwaited, workingIn: shipment.version.workingFolder, room: try shipment.workingRoom,
                goingOnAfter: earlier)
        }
    }
}

/// The data of one DATA.
struct EncodedPiece: Sendable {
    let part: Int
    let data: PartData
    /// Bytes of the part that the piece stands for: about, and 0 where the encoding cannot tell that of one piece. The first piece after
    /// earlier ones stands for theirs, too.
    let partBytes: Int64
    /// The note by which the encoder goes on after it in another session.
    let note: PieceNote
}

extension EncodedPiece {
    fileprivate init(_ segment: EncodedSegment, part: Int, partBytes: Int64) {
        self.init(
            part: part, data: PartData(segment.bytes, isLast: segment.isLast), partBytes: partBytes,
            note: PieceNote(segment.setting, isLast: segment.isLast))
    }
}

extension RestartCause {
    /// - Returns: `nil` for an error that ends the shipment.
    fileprivate init?(_ error: any Error) {
        switch error {
        case is EarlierPieces.Mismatch: self = .cannotGoOn
        case EncodingFailure.selfCheckFailed: self = .selfCheckFailed
        case EncodingFailure.unsuitable, CompressionError.notCanonical, CompressionError.segmentFull:
            self = .unsuitable
        case EncodingFailure.tooLarge: self = .largeDelta
        default: return nil
        }
    }
}

extension PartEncoding {
    /// Whether a part can go in it, a delta over that base, and the user allows that.
    func isPossible(for part: Int, of shipment: OutgoingShipment, over base: OutgoingBase?) -> Bool {
        let options = shipment.options
        return switch self {
        case .blocks: true
        case .columns: shipment.version.indexShapes != nil && options.encoding == .columns
        case .delta:
            options.encoding == .columns
                && base.map { part == 0 || shipment.source(ofPart: part, over: $0) != nil } ?? false
        }
    }
}
