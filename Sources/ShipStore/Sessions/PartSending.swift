import ShipCompression
import ShipProtocol
import StoreFiles

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
        try await sendFiles(wanted.filter { $0.index > 0 }, report)
    }

    /// Most go in blocks, as many at a time as there are one after the other.
    private mutating func sendFiles(_ files: [WantedPart], _ report: (SendEvent) -> Void) async throws {
        // Only the first goes on from an earlier session. What a delta of them is made of, two stores are read for.
        let (begun, encodings) = try await writer.whileWorking {
            (files.first.flatMap(shipment.earlier), try shipment.encodings(ofFiles: files))
        }
        var earlier = begun
        var inBlocks: [Int] = []
        for (file, best) in zip(files, encodings) {
            guard let encoding = earlier?.start.encoding ?? best else {
                throw ProtocolError.noCommonEncoding(part: file.index)
            }
            if encoding == .delta {
                try await sendInBlocks(&inBlocks, after: nil, report)
                try await sendDelta(file, after: earlier, report)
                earlier = nil
            } else {
                inBlocks.append(file.index)
                if earlier != nil { try await sendInBlocks(&inBlocks, after: earlier, report) }
                earlier = nil
            }
        }
        try await sendInBlocks(&inBlocks, after: nil, report)
    }

    private mutating func sendInBlocks(
        _ files: inout [Int], after earlier: EarlierStream?, _ report: (SendEvent) -> Void
    ) async throws {
        do {
            try await send(files, in: .blocks, after: earlier, report)
            files = []
        } catch is EncodingGivenUp {
            // There is nothing else to fall back to.
            throw BrokenInvariant("what was sent of a file cannot be gone on with")
        }
    }

    /// One external file as what changed of it, or otherwise where that cannot be.
    private mutating func sendDelta(
        _ file: WantedPart, after earlier: EarlierStream?, _ report: (SendEvent) -> Void
    ) async throws {
        let done = othersDone
        do {
            try await send([file.index], in: .delta, over: file.base, after: earlier, report)
        } catch let failure as EncodingGivenUp {
            guard file.encodings.contains(.blocks) else { throw ProtocolError.noCommonEncoding(part: file.index) }
            // Until all of it is encoded, nothing of it goes.
            if openPart == file.index { report(.startedAgain(failure.cause)) }
            (othersDone, openPart) = (done, nil)
            var files = [file.index]
            try await sendInBlocks(&files, after: nil, report)
        }
    }

    private mutating func sendStore(_ store: WantedPart, _ report: (SendEvent) -> Void) async throws {
        var encodings = shipment.encodings(among: store)
        guard !encodings.isEmpty else { throw ProtocolError.noCommonEncoding(part: 0) }
        var earlier = shipment.earlier(store)
        if let encoding = earlier?.start.encoding {
            encodings = [encoding] + encodings.filter { $0 != encoding }
            change(to: encoding)
            policy.stayWithEncoding()
        }
        while let encoding = encodings.first {
            do {
                try await send(
                    [0], in: encoding, over: store.base, after: earlier, orOthers: encodings.count > 1, report)
                // A delta does not stand for all of it piece by piece.
                storeDone = shipment.manifest.store.size
                report(progress)
                return
            } catch let failure as EncodingGivenUp {
                encodings.removeFirst()
                earlier = nil
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
    ///   - earlier: Where the first one goes on.
    ///   - hasOthers: Whether it may be given up.
    private mutating func send(
        _ parts: [Int], in encoding: PartEncoding, over base: ContentDigest? = nil,
        after earlier: EarlierStream? = nil, orOthers hasOthers: Bool = false, _ report: (SendEvent) -> Void
    ) async throws {
        guard let first = parts.first else { return }
        dial.turn(to: policy.level, policy.prospect)
        start = .now
        let encoder = encoding.encoder(
            for: shipment, isOfFiles: first > 0, over: shipment.base(base), limit: policy.deltaLimit,
            isAwaited: isAwaited, goingOnAfter: earlier?.pieces)
        // The first piece, and the end of a self-check, may be a while in coming.
        try await writer.whileWorking {
            if let earlier { try await goOn(first, after: earlier, report) }
            try await encoder.encode(parts, dial) { piece in
                try mayGoOn()
                if piece.part != openPart { try await open(piece.part, in: encoding, over: base) }
                shipment.record?.add(piece.data.bytes, piece.note)
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

    private mutating func open(_ part: Int, in encoding: PartEncoding, over base: ContentDigest?) async throws {
        let isAnew = opened(part, encoding)
        if part == 0 { sentStore = SentStore(encoding: encoding) }
        try await writer.send(.part(PartOpening(part, as: encoding, isAnew: isAnew)))
        openPart = part
        let header = PartStream.Header(encoding, of: shipment.manifest.parts[part], over: base)
        shipment.record?.begin(header)
    }

    /// Sends what an earlier session has encoded, and the consumer does not have.
    private mutating func goOn(
        _ part: Int, after earlier: EarlierStream, _ report: (SendEvent) -> Void
    ) async throws {
        let (start, stream) = (earlier.start, earlier.stream)
        try mayGoOn()
        _ = opened(part, start.encoding)
        if part == 0 { sentStore = SentStore(encoding: start.encoding) }
        report(.wentOn(shipment.manifest.name, after: start.position))
        try await writer.send(.part(PartOpening(part, as: start.encoding, after: start)))
        openPart = part
        for index in earlier.place.whole..<stream.entries.count {
            try mayGoOn()
            let data = try stream.data(index).dropFirst(index == earlier.place.whole ? earlier.place.bytes : 0)
            let isLast = PieceNote(rawValue: stream.entries[index].note).isLast
            try await writer.send(.data(PartData(Array(data), isLast: isLast)))
            if part == 0 { sentStore?.bytes += Int64(data.count) }
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
