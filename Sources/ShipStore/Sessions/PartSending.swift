import ShipCompression
import ShipProtocol

/// The parts of a shipment as they go over the link, the effort following it.
struct PartSending {
    private let shipment: OutgoingShipment
    private let writer: FrameWriter
    private let wanted: [WantedPart]
    /// Told of each part that is opened; says whether something of it has gone before.
    private let opened: @Sendable (Int, PartEncoding) -> Bool
    /// Asked before each frame; what it throws ends the sending.
    private let mayGoOn: @Sendable () throws -> Void
    private let link: SendingPolicy.Link
    private var policy: SendingPolicy
    private let dial: EffortDial
    /// Whether somebody waits at the other end.
    private let isAwaited: Bool
    /// Bytes of the store, and of the other parts.
    private var (storeDone, othersDone) = (Int64(0), Int64(0))
    private let total: Int64
    /// The part that is open.
    private var openPart: Int?
    /// How the store went in the end.
    private(set) var sentStore: SentStore?
    /// When the encoder got the word.
    private var start = ContinuousClock.now

    init(
        of shipment: OutgoingShipment, _ wanted: [WantedPart], over link: SendingPolicy.Link, _ writer: FrameWriter,
        opened: @escaping @Sendable (Int, PartEncoding) -> Bool, mayGoOn: @escaping @Sendable () throws -> Void
    ) {
        self.shipment = shipment
        self.writer = writer
        self.wanted = wanted
        self.opened = opened
        self.mayGoOn = mayGoOn
        let all = shipment.manifest.parts
        total = wanted.reduce(0) { $0 + all[$1.index].size }
        self.link = link
        let possible = wanted.first { $0.index == 0 }.map { shipment.encodings(among: $0) } ?? []
        policy = SendingPolicy(
            shipment.manner.effort, possible.first ?? .blocks, over: link, storeSize: shipment.manifest.store.size,
            totalSize: total)
        isAwaited = link != .file
        dial = EffortDial(policy.level, policy.prospect)
    }

    var progress: SendEvent {
        .progress(done: min(total, storeDone + othersDone), total: total, wire: writer.bytesSent)
    }

    /// Sends all that is wanted.
    mutating func run(_ report: (SendEvent) -> Void) async throws {
        report(progress)
        if let store = wanted.first, store.index == 0 { try await sendStore(store, report) }
        try await send(wanted.map(\.index).filter { $0 > 0 }, in: .blocks, report)
    }

    private mutating func sendStore(_ store: WantedPart, _ report: (SendEvent) -> Void) async throws {
        var encodings = shipment.encodings(among: store)
        guard !encodings.isEmpty else { throw ProtocolError.noCommonEncoding(part: 0) }
        while let encoding = encodings.first {
            do {
                try await send([0], in: encoding, over: store.base, orOthers: encodings.count > 1, report)
                // A delta does not stand for all of it piece by piece.
                storeDone = shipment.manifest.store.size
                report(progress)
                return
            } catch let failure as EncodingGivenUp {
                encodings.removeFirst()
                guard let next = encodings.first else { throw ProtocolError.noCommonEncoding(part: 0) }
                report(.startedAgain(failure.cause))
                (storeDone, openPart) = (0, nil)
                change(to: next)
            }
        }
    }

    /// What was found out about the link counts on for blocks alone: others are tried anew.
    private mutating func change(to encoding: PartEncoding) {
        if encoding == .blocks { return policy.changeToBlocks() }
        policy = SendingPolicy(
            shipment.manner.effort, encoding, over: link, storeSize: shipment.manifest.store.size, totalSize: total)
    }

    /// - Parameters:
    ///   - base: What the consumer holds.
    ///   - hasOthers: Whether it may be given up.
    private mutating func send(
        _ parts: [Int], in encoding: PartEncoding, over base: ContentDigest? = nil, orOthers hasOthers: Bool = false,
        _ report: (SendEvent) -> Void
    ) async throws {
        guard !parts.isEmpty else { return }
        dial.turn(to: policy.level, policy.prospect)
        start = .now
        let encoder = encoding.encoder(
            for: shipment, over: shipment.base(base), limit: policy.deltaLimit, isAwaited: isAwaited)
        // The first piece, and the end of a self-check, may be a while in coming.
        try await writer.whileWorking {
            try await encoder.encode(parts, dial) { piece in
                try mayGoOn()
                if piece.part != openPart {
                    let isAnew = opened(piece.part, encoding)
                    if piece.part == 0 { sentStore = SentStore(encoding: encoding) }
                    try await writer.send(.part(PartOpening(piece.part, as: encoding, over: base, isAnew: isAnew)))
                    openPart = piece.part
                }
                if piece.part == 0 {
                    storeDone += piece.partBytes
                    sentStore?.bytes += Int64(piece.data.bytes.count)
                } else {
                    othersDone += piece.partBytes
                }
                let step = try await send(piece, report)
                if step == .changeToBlocks, hasOthers { throw EncodingGivenUp(cause: .fastLink) }
            }
        }
    }

    /// Sends what the encoder has come to, and sees how long that takes.
    private mutating func send(_ piece: EncodedPiece, _ report: (SendEvent) -> Void) async throws -> SendingPolicy.Step
    {
        let encoding = .now - start
        let (waited, wire) = (writer.timeWaited, writer.bytesSent)
        try await writer.send(.data(piece.data))
        let step = policy.sent(
            storeBytes: piece.part == 0 ? piece.partBytes : 0, wireBytes: writer.bytesSent - wire, encoding: encoding,
            waiting: writer.timeWaited - waited)
        dial.turn(to: policy.level, policy.prospect)
        report(progress)
        start = .now
        return step
    }
}

/// How the store of a shipment went.
struct SentStore: Hashable, Sendable {
    let encoding: PartEncoding
    /// Of the data, as encoded.
    var bytes: Int64 = 0
}
