import ShipCompression
import ShipProtocol
import StoreFiles

/// The parts of a shipment as they go over the link, the effort following it.
struct PartSending {
    private let shipment: OutgoingShipment
    private let writer: FrameWriter
    /// Indexes, rising.
    private let parts: [Int]
    private var policy: SendingPolicy
    private let dial: EffortDial
    /// Whether somebody waits at the other end.
    private let isAwaited: Bool
    /// Bytes of the store, and of the other parts.
    private var (storeDone, othersDone) = (Int64(0), Int64(0))
    private let total: Int64
    /// When the encoder got the word.
    private var start = ContinuousClock.now

    /// - Parameter forms: How the consumer takes a store.
    init(
        of shipment: OutgoingShipment, _ content: OutgoingShipment.Content, taking forms: Set<StoreForm>,
        over link: SendingPolicy.Link, _ writer: FrameWriter
    ) {
        self.shipment = shipment
        self.writer = writer
        let all = shipment.manifest.parts
        let manner = shipment.manner
        let form: StoreForm
        switch content {
        case .shipment(let skipped):
            parts = all.indices.filter { !skipped.contains($0) }
            let isPossible = manner.codec != nil && shipment.indexShapes != nil && forms.contains(.columns)
            form = isPossible ? manner.form : .plain
        case .storeAgain: (parts, form) = ([0], .plain)
        }
        total = parts.reduce(0) { $0 + all[$1].size }
        policy = SendingPolicy(
            manner.effort, form, over: link, storeSize: shipment.manifest.store.size, totalSize: total)
        isAwaited = link != .file
        dial = EffortDial(policy.level, policy.prospect)
    }

    var progress: SendEvent {
        .progress(done: min(total, storeDone + othersDone), total: total, wire: writer.bytesSent)
    }

    /// - Returns: How the store went; plainly also if it did not go.
    mutating func sendStore(_ report: (SendEvent) -> Void) async throws -> StoreForm {
        guard parts.first == 0 else { return .plain }
        if policy.form == .columns, let codec = shipment.manner.codec {
            guard let cause = try await sendRows(codec, report) else { return .columns }
            report(.startedAgain(cause))
            storeDone = 0
            policy.goPlainly()
        }
        try await sendBlocks(of: [0], report)
        return .plain
    }

    mutating func sendExternalFiles(_ report: (SendEvent) -> Void) async throws {
        try await sendBlocks(of: parts.filter { $0 > 0 }, report)
    }

    /// The link turned out to be faster than the encoder.
    private struct LinkIsFast: Error {}

    /// - Returns: `nil`, or why the store has to go once more in blocks.
    private mutating func sendRows(
        _ codec: ColumnsCodec, _ report: (SendEvent) -> Void
    ) async throws -> RestartCause? {
        do {
            start = .now
            let encoder = try codec.makeEncoder(
                StoreToEncode(
                    path: shipment.path(ofPart: 0), facts: shipment.manifest.store,
                    shapes: shipment.indexShapes ?? [:], dial: dial, selfCheck: shipment.manner.selfCheck,
                    cores: shipment.manner.cores, isAwaited: isAwaited, room: try shipment.workingRoom))
            // The first segment and the end of the self-check may be a while in coming.
            try await writer.whileWorking {
                try await encoder.encode { segment, position in
                    let frame = Frame.columns(Columns(segment: segment.bytes, isLast: position == .last))
                    storeDone += segment.storeBytes
                    if try await send(frame, storeBytes: segment.storeBytes, report) == .startAgainPlainly {
                        throw LinkIsFast()
                    }
                }
            }
            return nil
        } catch ColumnsFailure.selfCheckFailed {
            return .selfCheckFailed
        } catch ColumnsFailure.unsuitable {
            return .unsuitable
        } catch is LinkIsFast {
            return .fastLink
        }
    }

    private mutating func sendBlocks(of parts: [Int], _ report: (SendEvent) -> Void) async throws {
        let sizes = shipment.manifest.parts.map(\.size)
        let sources = parts.map { index in
            // Opened for each read: there may be thousands of parts, and a read takes a whole block.
            BlockEncoder.Source(part: UInt32(index), size: sizes[index]) { [path = shipment.path(ofPart: index)] in
                try OpenFile.readingWithoutFollowing(path).read($1, at: $0)
            }
        }
        dial.turn(to: policy.level, policy.prospect)
        start = .now
        try await BlockEncoder(dial, cores: shipment.manner.cores).encode(sources) { block in
            let size = Int64(block.decodedSize)
            if block.part == 0 { storeDone += size } else { othersDone += size }
            _ = try await send(.block(block), storeBytes: block.part == 0 ? size : 0, report)
        }
    }

    /// Sends what the encoder has come to, and sees how long that takes.
    private mutating func send(
        _ frame: Frame, storeBytes: Int64, _ report: (SendEvent) -> Void
    ) async throws -> SendingPolicy.Step {
        let encoding = .now - start
        let (waited, wire) = (writer.timeWaited, writer.bytesSent)
        try await writer.send(frame)
        let step = policy.sent(
            storeBytes: storeBytes, wireBytes: writer.bytesSent - wire, encoding: encoding,
            waiting: writer.timeWaited - waited)
        dial.turn(to: policy.level, policy.prospect)
        report(progress)
        start = .now
        return step
    }
}
