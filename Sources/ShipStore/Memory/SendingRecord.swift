import ShipCompression
import ShipProtocol
import StoreBases
import StoreFiles
import Synchronization
import SystemPackage

/// A shipment that is being sent, on its way into the memory: it gets there once it has taken a while, or breaks off.
final class SendingRecord: OutgoingRecord {
    /// Less than this is not worth it, in bytes.
    private static let least = 64 * 1024
    /// What goes within this time stays here unless it is more than so many bytes: most shipments are over then.
    private static let grace = Duration.milliseconds(500)
    private static let mostHere = 2 * 1024 * 1024

    private struct State {
        /// As the memory has it.
        var unfinished: UnfinishedShipment?
        var header: PartStream.Header?
        var pieces: [(data: [UInt8], note: PieceNote)] = []
        var size = 0
        var begun = ContinuousClock.now
        /// Once the memory has declined it.
        var isOver = false
    }

    private let candidates: @Sendable () -> [() -> UnfinishedShipment?]
    private let start: @Sendable () -> UnfinishedShipment?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - candidates: Gives what takes up what earlier sessions have recorded, the best first.
    ///   - start: Makes the memory know of the shipment; `nil` if it does not take it.
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
            let isNew = .now - state.begun < Self.grace && state.size < Self.mostHere
            if state.size >= Self.least, !isNew { enter(&state) }
        }
    }

    func breakOff() {
        state.withLock { state in
            if state.unfinished == nil, !state.isOver, state.size >= Self.least { enter(&state) }
            (state.unfinished, state.pieces, state.isOver) = (nil, [], true)
        }
    }

    func finish() {
        state.withLock { state in
            state.unfinished?.finish()
            (state.unfinished, state.pieces, state.isOver) = (nil, [], true)
        }
    }

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
