import ShipCompression
import ShipProtocol
import StoreBases
import StoreFiles
import Synchronization

/// Records a shipment that is being sent, so that another session can go on with it if the link breaks: in this process at first, and in the
/// memory once the shipment has taken a while, or breaks off. An error here never fails a shipment.
final class SendingRecord: Sendable {
    /// What an earlier session has recorded, and where the record goes on.
    typealias Recorded = (stream: PartStream, shipment: UnfinishedShipment?)

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

    private let candidates: @Sendable () -> [() -> Recorded?]
    private let start: @Sendable () -> UnfinishedShipment?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - candidates: Returns functions that take up what earlier sessions have recorded, the best first.
    ///   - start: Enters the shipment into the memory; returns `nil` if the memory declines it.
    init(
        goingOnWith candidates: @escaping @Sendable () -> [() -> Recorded?],
        start: @escaping @Sendable () -> UnfinishedShipment?
    ) {
        self.candidates = candidates
        self.start = start
    }

    static func recorded(of shipment: UnfinishedShipment) -> Recorded? { shipment.recorded().map { ($0, shipment) } }

    /// Takes up what an earlier session recorded of the part that was open.
    ///
    /// - Parameter isOfUse: Called with each recorded stream, until it returns true.
    func goOn(where isOfUse: (PartStream) -> Bool) {
        for candidate in candidates() {
            guard let found = candidate(), isOfUse(found.stream) else { continue }
            return state.withLock { $0.unfinished = found.shipment }
        }
    }

    /// A part is opened at its beginning.
    func begin(_ header: PartStream.Header) {
        state.withLock { state in
            (state.header, state.pieces, state.size) = (header, [], 0)
            state.unfinished?.begin(header)
        }
    }

    /// The data of one DATA are about to go: they follow those before them, or what was taken up.
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

    /// The shipment has broken off: from here on the record is another session's.
    func breakOff() {
        state.withLock { state in
            if state.unfinished == nil, !state.isOver, state.size >= Self.leastRecorded { enter(&state) }
            (state.unfinished, state.pieces, state.isOver) = (nil, [], true)
        }
    }

    /// The shipment has arrived, or has failed for good: removes the record, unless the shipment has broken off.
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
        record?.goOn { stream in
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
