import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization

/// The reads of a coordinator that wait until the source of a store has said how old the copy is. For each store they share one watch, and a
/// question that is under way.
final class AgeQuestions: Sendable {
    /// A question that has changed nothing for so long is asked again by whoever asks next.
    private static let patience = Duration.milliseconds(100)

    private struct Waiting {
        let watch: FileWatch
        var readers: [Int: AsyncStream<Void>.Continuation]
        /// When the last question was asked, and what was known then.
        var asked: (time: ContinuousClock.Instant, known: AgeRecord?)?
    }

    private let inbox: Inbox
    private let state = Mutex<(waiting: [StoreName: Waiting], lastID: Int)>(([:], 0))

    init(in inbox: Inbox) { self.inbox = inbox }

    /// - Parameter reader: Is told when something else may be known.
    /// - Returns: What to leave with.
    /// - Throws: If there is no descriptor left.
    func join(_ name: StoreName, _ reader: AsyncStream<Void>.Continuation) throws(FileError) -> Int {
        try state.withLock { state throws(FileError) in
            state.lastID += 1
            if state.waiting[name] == nil {
                let files = [inbox.layout.ageRecord(name), inbox.layout.current(name)]
                let watch = try FileWatch(of: 1, every: .milliseconds(50), files: { _ in files }) { [weak self] _ in
                    self?.tell(name)
                }
                state.waiting[name] = Waiting(watch: watch, readers: [:])
            }
            state.waiting[name]?.readers[state.lastID] = reader
            return state.lastID
        }
    }

    func leave(_ name: StoreName, _ id: Int) {
        // A watch ends outside the lock, for which its thread may wait.
        let ended = state.withLock { state in
            state.waiting[name]?.readers[id] = nil
            return state.waiting[name]?.readers.isEmpty == true ? state.waiting.removeValue(forKey: name) : nil
        }
        withExtendedLifetime(ended) {}
    }

    /// Asks how old a copy is, unless another question of the same is under way.
    ///
    /// - Throws: Where this process may not write to the inbox.
    func ask(_ name: StoreName) throws {
        let folder = try inbox.open()
        let known = folder.ageRecord(of: name)
        let isFirst = state.withLock { state in
            if let asked = state.waiting[name]?.asked, asked.known == known, .now - asked.time < Self.patience {
                return false
            }
            state.waiting[name]?.asked = (.now, known)
            return true
        }
        if isFirst { try folder.ring(name) }
    }

    private func tell(_ name: StoreName) {
        for reader in state.withLock({ Array($0.waiting[name]?.readers.values ?? [:].values) }) { reader.yield() }
    }
}
