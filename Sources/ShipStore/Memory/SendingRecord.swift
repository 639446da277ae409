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

    private struct State {
        /// The shipment in the memory; `nil` as long as the record is in this process.
        var unfinished: UnfinishedShipment?
        var journal = StreamJournal()
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
            return state.withLock { state in
                state.unfinished = found.shipment
                guard let shipment = found.shipment else { return }
                state.journal = StreamJournal(goingOnWith: found.stream, growing: shipment.mayGrow)
            }
        }
    }

    /// A part is opened at its beginning.
    func begin(_ header: PartStream.Header) {
        state.withLock { state in
            state.journal.begin(header)
            if state.unfinished != nil { enter(&state) }
        }
    }

    /// The data of one DATA are about to go: they follow those before them, or what was taken up.
    func add(_ data: [UInt8], _ note: PieceNote) {
        state.withLock { state in
            if !state.isOver, state.journal.add(data, note: note.rawValue) { enter(&state) }
        }
    }

    /// The shipment has broken off: from here on the record is another session's.
    func breakOff() {
        state.withLock { state in
            if !state.isOver, state.journal.isWorthFile() { enter(&state) }
            state = State(isOver: true)
        }
    }

    /// The shipment has arrived, or has failed for good: removes the record, unless the shipment has broken off.
    func finish() {
        state.withLock { state in
            state.unfinished?.finish()
            state = State(isOver: true)
        }
    }

    /// Moves the record into the memory.
    private func enter(_ state: inout State) {
        guard let unfinished = state.unfinished ?? start() else {
            state = State(isOver: true)
            return
        }
        state.unfinished = unfinished
        state.journal.enter(growing: unfinished.mayGrow, unfinished.makeStream)
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
