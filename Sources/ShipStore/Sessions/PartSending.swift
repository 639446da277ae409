import ShipCompression
import ShipProtocol
import StoreEncoding
import StoreFiles

/// Sends the parts of a shipment over a link, and adapts the effort to the link.
struct PartSending {
    private let shipment: OutgoingShipment
    private let writer: FrameWriter
    private let wanted: [WantedPart]
    /// Asks the consumer about the base of the store, and returns its answer; `nil` where nobody hears.
    private let compare: (@Sendable ([UInt8]) async throws -> [UInt8])?
    /// Called for each part that is opened; returns whether some of the part has gone before.
    private let opened: @Sendable (Int, PartEncoding) -> Bool
    /// Called before each frame; what it throws ends the sending.
    private let mayGoOn: @Sendable () throws -> Void
    private let report: @Sendable (SendEvent) -> Void
    private let link: AdaptiveCompression.Link
    private var policy: AdaptiveCompression
    private let settings: CompressionSettings
    /// Bytes of the store, and of the other parts.
    private var (storeDone, othersDone) = (Int64(0), Int64(0))
    private let total: Int64
    private var openPart: Int?
    /// How the store went; `nil` if none of it had to go.
    private(set) var sentStore: EncodedStore?
    /// When the encoder began the piece at hand.
    private var start = ContinuousClock.now

    init(
        of shipment: OutgoingShipment, _ wanted: [WantedPart], over link: AdaptiveCompression.Link,
        _ writer: FrameWriter,
        compare: (@Sendable ([UInt8]) async throws -> [UInt8])? = nil,
        opened: @escaping @Sendable (Int, PartEncoding) -> Bool, mayGoOn: @escaping @Sendable () throws -> Void,
        report: @escaping @Sendable (SendEvent) -> Void
    ) {
        self.shipment = shipment
        self.writer = writer
        self.wanted = wanted
        self.compare = compare
        self.opened = opened
        self.mayGoOn = mayGoOn
        self.report = report
        self.link = link
        let all = shipment.manifest.parts
        total = wanted.reduce(0) { $0 + all[$1.index].size }
        let possible = wanted.first { $0.index == 0 }.map { shipment.encodings(among: $0) } ?? []
        policy = AdaptiveCompression(
            shipment.options.effort, possible.first ?? .blocks, over: link, storeSize: shipment.manifest.store.size,
            totalSize: total)
        settings = CompressionSettings(policy.level, isOnTrial: policy.isOnTrial)
    }

    private func reportProgress() {
        report(.progress(done: min(total, storeDone + othersDone), total: total, wire: writer.bytesSent))
    }

    /// Sends all that is wanted.
    ///
    /// - Throws: `ProtocolError.noCommonEncoding`; what `mayGoOn`, the encoders, and the link throw.
    mutating func run() async throws {
        reportProgress()
        if let store = wanted.first, store.index == 0 { try await sendStore(store) }
        try await sendFiles(wanted.filter { $0.index > 0 })
    }

    // MARK: The store

    private mutating func sendStore(_ store: WantedPart) async throws {
        var encodings = shipment.encodings(among: store)
        guard !encodings.isEmpty else { throw ProtocolError.noCommonEncoding(part: 0) }
        var earlier = shipment.earlier(store)
        if let encoding = earlier?.start.encoding {
            encodings = [encoding] + encodings.filter { $0 != encoding }
            change(to: encoding)
            policy.stayWithEncoding()
        }
        var shared = encodings.contains(.delta) || earlier != nil ? nil : try await search(for: store)
        if shared != nil {
            encodings.insert(.delta, at: 0)
            change(to: .delta)
        }
        while let encoding = encodings.first {
            do {
                try await send(
                    [0], in: encoding, over: store.base, sharing: shared, after: earlier, orOthers: encodings.count > 1)
                // The pieces of a delta do not say which bytes of the store they stand for.
                storeDone = shipment.manifest.store.size
                reportProgress()
                return
            } catch let cause as RestartCause {
                encodings.removeFirst()
                (earlier, shared) = (nil, nil)
                guard let next = encodings.first else { throw ProtocolError.noCommonEncoding(part: 0) }
                report(.startedAgain(cause))
                (storeDone, openPart) = (0, nil)
                change(to: next)
            }
        }
    }

    /// Finds what the store has in common with a base that the consumer has, and this side has not.
    private func search(for store: WantedPart) async throws -> SharedRows? {
        guard let compare, store.base != nil, store.encodings.contains(.delta) else { return nil }
        return try await writer.whileWorking { try await shipment.search(asking: compare) }
    }

    /// Blocks keep what was measured of the link; other encodings measure it anew.
    private mutating func change(to encoding: PartEncoding) {
        if encoding == .blocks { return policy.changeToBlocks() }
        policy = AdaptiveCompression(
            shipment.options.effort, encoding, over: link, storeSize: shipment.manifest.store.size, totalSize: total)
    }

    // MARK: External files

    /// Most files go in blocks, and files that follow each other are encoded together.
    private mutating func sendFiles(_ files: [WantedPart]) async throws {
        // Only the first file can go on from an earlier session. To find what a delta refers to, both stores are read.
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
                try await sendInBlocks(&inBlocks)
                try await sendDelta(file, after: earlier)
            } else {
                inBlocks.append(file.index)
                if earlier != nil { try await sendInBlocks(&inBlocks, after: earlier) }
            }
            earlier = nil
        }
        try await sendInBlocks(&inBlocks)
    }

    private mutating func sendInBlocks(_ files: inout [Int], after earlier: EarlierStream? = nil) async throws {
        do {
            try await send(files, in: .blocks, after: earlier)
            files = []
        } catch is RestartCause {
            // No encoding is left to fall back to.
            throw BrokenInvariant("what was sent of a file cannot be gone on with")
        }
    }

    /// Sends one external file as a delta, or in blocks where no delta can be made.
    private mutating func sendDelta(_ file: WantedPart, after earlier: EarlierStream?) async throws {
        let done = othersDone
        do {
            try await send([file.index], in: .delta, over: file.base, after: earlier)
        } catch let cause as RestartCause {
            guard file.encodings.contains(.blocks) else { throw ProtocolError.noCommonEncoding(part: file.index) }
            // A delta is encoded to its end before any of it goes.
            if openPart == file.index { report(.startedAgain(cause)) }
            (othersDone, openPart) = (done, nil)
            var files = [file.index]
            try await sendInBlocks(&files)
        }
    }

    // MARK: Any part

    /// - Parameter hasOthers: Whether another encoding may follow.
    private mutating func send(
        _ parts: [Int], in encoding: PartEncoding, over base: ContentDigest? = nil, sharing shared: SharedRows? = nil,
        after earlier: EarlierStream? = nil, orOthers hasOthers: Bool = false
    ) async throws {
        guard let first = parts.first else { return }
        settings.set(policy.level, isOnTrial: policy.isOnTrial)
        start = .now
        let encoder = PartEncoder(
            encoding: encoding, shipment: shipment, settings: settings, base: shipment.base(base), shared: shared,
            limit: policy.deltaLimit,
            isAwaited: link != .file, earlier: earlier?.pieces)
        // The first piece, and the end of a self-check, may take a while.
        try await writer.whileWorking {
            if let earlier { try await goOn(first, after: earlier) }
            try await encoder.encode(parts) { piece in
                try mayGoOn()
                if piece.part != openPart { try await open(piece.part, in: encoding, over: base) }
                shipment.record?.add(piece.data.bytes, piece.note)
                if piece.part == 0 {
                    storeDone += piece.partBytes
                    countStore(piece.data.bytes.count)
                } else {
                    othersDone += piece.partBytes
                }
                if try await send(piece), hasOthers { throw RestartCause.fastLink }
            }
        }
    }

    private mutating func open(_ part: Int, in encoding: PartEncoding, over base: ContentDigest?) async throws {
        let isAnew = opened(part, encoding)
        if part == 0 { sentStore = EncodedStore(encoding: encoding, bytes: 0) }
        try await writer.send(.part(PartOpening(part, as: encoding, isAnew: isAnew)))
        openPart = part
        shipment.record?.begin(PartStream.Header(encoding, of: shipment.manifest.parts[part], over: base))
    }

    /// Sends what an earlier session has encoded, and the consumer does not have.
    private mutating func goOn(_ part: Int, after earlier: EarlierStream) async throws {
        let (start, stream) = (earlier.start, earlier.stream)
        try mayGoOn()
        _ = opened(part, start.encoding)
        if part == 0 { sentStore = EncodedStore(encoding: start.encoding, bytes: 0) }
        report(.wentOn(shipment.manifest.name, after: start.position))
        try await writer.send(.part(PartOpening(part, as: start.encoding, after: start)))
        openPart = part
        for index in earlier.place.whole..<stream.entries.count {
            try mayGoOn()
            let data = try stream.data(index).dropFirst(index == earlier.place.whole ? earlier.place.bytes : 0)
            let isLast = PieceNote(rawValue: stream.entries[index].note).isLast
            try await writer.send(.data(PartData(Array(data), isLast: isLast)))
            if part == 0 { countStore(data.count) }
        }
    }

    private mutating func countStore(_ bytes: Int) {
        sentStore = sentStore.map { EncodedStore(encoding: $0.encoding, bytes: $0.bytes + Int64(bytes)) }
    }

    /// Sends what the encoder has made, and measures how long the encoder and the link took.
    ///
    /// - Returns: Whether the link is so fast that the store goes in blocks from here on.
    private mutating func send(_ piece: EncodedPiece) async throws -> Bool {
        let encoding = .now - start
        let (waited, wire) = (writer.timeWaited, writer.bytesSent)
        try await writer.send(.data(piece.data))
        let isFast = policy.sent(
            storeBytes: piece.part == 0 ? piece.partBytes : 0, wireBytes: writer.bytesSent - wire, encoding: encoding,
            waiting: writer.timeWaited - waited)
        settings.set(policy.level, isOnTrial: policy.isOnTrial)
        reportProgress()
        start = .now
        return isFast
    }
}
