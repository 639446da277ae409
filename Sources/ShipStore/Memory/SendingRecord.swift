import ShipCompression
import ShipProtocol
import StoreBases
import StoreFiles
import Synchronization

/// Records a shipment that is being sent: in this process at first, and in the memory once the shipment has taken a while, or breaks off.
final class SendingRecord: OutgoingRecord {
    /// Less is not recorded in the memory, in bytes: to send it again costs less.
    private static let leastRecorded = 64 * 1024
    /// Bytes that go within this time stay in this process, unless they are more than `mostInProcess`: most shipments are over then.
    private static let grace = Duration.milliseconds(500)
    private static let mostInProcess = 2 * 1024 * 1024

    private struct State {
        /// The shipment in the memory; `nil` as long as the record is in this process.
        var unfinished: UnfinishedShipment?
        var header: PartStream.Header?
        var pieces: [(data: [UInt8], note: PieceNote)] = []
        var size = 0
        var begun = ContinuousClock.now
        /// Whether nothing more is recorded: the memory has declined the shipment, or the shipment has ended.
        var isOver = false
    }

    private let candidates: @Sendable () -> [() -> UnfinishedShipment?]
    private let start: @Sendable () -> UnfinishedShipment?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - candidates: Returns functions that take up what earlier sessions have recorded, the best first.
    ///   - start: Enters the shipment into the memory; returns `nil` if the memory declines it.
    init(
        goingOnWith candidates: @escaping @Sendable () -> [() -> UnfinishedShipment?],
        start: @escaping @Sendable () -> UnfinishedShipment?
    ) {
        self.candidates = candidates
        self.start = start
    }

    func goOn(where isOfUse: (PartStream) -> Bool) -> PartStream? {
        for candidate in candidates() {
            guard let unfinished = candidate(), let stream = unfinished.recorded(), isOfUse(stream) else { continue }
            state.withLock { $0.unfinished = unfinished }
            return stream
        }
        return nil
    }

    func begin(_ header: PartStream.Header) {
        state.withLock { state in
            (state.header, state.pieces, state.size) = (header, [], 0)
            state.unfinished?.begin(header)
        }
    }

    func add(_ data: [UInt8], _ note: PieceNote) {
        state.withLock { state in
            guard !state.isOver else { return }
            if let unfinished = state.unfinished {
                unfinished.append(data, note: note.rawValue)
                return
            }
            state.pieces.append((data, note))
            state.size += data.count
            let isNew = .now - state.begun < Self.grace && state.size < Self.mostInProcess
            if state.size >= Self.leastRecorded, !isNew { enter(&state) }
        }
    }

    func breakOff() {
        state.withLock { state in
            if state.unfinished == nil, !state.isOver, state.size >= Self.leastRecorded { enter(&state) }
            (state.unfinished, state.pieces, state.isOver) = (nil, [], true)
        }
    }

    func finish() {
        state.withLock { state in
            state.unfinished?.finish()
            (state.unfinished, state.pieces, state.isOver) = (nil, [], true)
        }
    }

    /// Moves the record into the memory.
    private func enter(_ state: inout sending State) {
        defer { state.pieces = [] }
        guard let header = state.header, let unfinished = start() else {
            state.isOver = true
            return
        }
        state.unfinished = unfinished
        unfinished.begin(header)
        for (data, note) in state.pieces { unfinished.append(data, note: note.rawValue) }
    }
}

extension OutgoingShipment {
    /// How a part can go on.
    ///
    /// - Returns: `nil` if the part has to go from its beginning: this side has recorded nothing, or something else than the consumer has.
    func earlier(_ wanted: WantedPart) -> EarlierStream? {
        guard let start = wanted.start, start.encoding.isPossible(for: wanted.index, of: self, over: base(wanted.base))
        else {
            return nil
        }
        let header = PartStream.Header(start.encoding, of: manifest.parts[wanted.index], over: wanted.base)
        var found: EarlierStream?
        _ = record?.goOn { stream in
            guard stream.header == header else { return false }
            found = try? EarlierStream(stream, at: start)
            return found != nil
        }
        return found
    }
}

extension PartStream {
    /// Whether the last piece of the part is there.
    var isComplete: Bool { entries.last.map { PieceNote(rawValue: $0.note).isLast } ?? false }
}
