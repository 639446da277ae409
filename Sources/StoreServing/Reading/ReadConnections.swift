import GRDB
import Synchronization

/// The connections to one file, opened as they are needed, so that its reads run side by side.
///
/// A blocking read never waits for another one: a read inside a read, which the same connection could not serve, gets
/// one of its own. Asynchronous reads, of which a program may begin thousands at once, share `kept` connections.
final class ReadConnections: Sendable, SuspensionGate.Holder {
    /// How many stay open while nobody reads.
    static let kept = 4

    private struct Slot {
        let queue: DatabaseQueue
        var readers: Int
    }

    private struct State {
        var slots: [Slot] = []
        /// How many stay open while nobody reads: none any more once they were to be let go of.
        var kept = ReadConnections.kept
    }

    private let open: @Sendable () throws -> DatabaseQueue
    private let state = Mutex(State())
    private let gate: SuspensionGate

    /// - Parameter open: Opens one more connection. It throws if that is no longer the same file.
    init(in gate: SuspensionGate, open: @escaping @Sendable () throws -> DatabaseQueue) {
        self.gate = gate
        self.open = open
        gate.add(self)
    }

    deinit { gate.remove(ObjectIdentifier(self)) }

    /// A connection that is spoken for until it is given back.
    struct Loan {
        let queue: DatabaseQueue
    }

    enum Reader: Hashable {
        /// Has a thread of its own, which must not wait for another read: it may be inside that one.
        case blocking
        /// May wait for its turn.
        case waiting
    }

    /// - Throws: What `open` throws, if no open connection will do.
    func borrow(for reader: Reader) throws -> Loan {
        let free = state.withLock { state -> DatabaseQueue? in
            // The first ones first, so that their caches stay warm.
            var chosen = state.slots.firstIndex { $0.readers == 0 }
            if chosen == nil, reader == .waiting, state.slots.count >= Self.kept {
                chosen = state.slots.indices.min { state.slots[$0].readers < state.slots[$1].readers }
            }
            guard let chosen else { return nil }
            state.slots[chosen].readers += 1
            return state.slots[chosen].queue
        }
        if let free { return Loan(queue: free) }
        let queue = try open()
        state.withLock { $0.slots.append(Slot(queue: queue, readers: 1)) }
        return Loan(queue: queue)
    }

    /// Opens the first connection, to find out whether it can be done.
    func open(_ reader: Reader) throws { giveBack(try borrow(for: reader)) }

    func giveBack(_ loan: Loan) {
        // What is closed is closed outside of the lock.
        let superfluous = state.withLock { state -> DatabaseQueue? in
            guard let index = state.slots.firstIndex(where: { $0.queue === loan.queue }) else { return nil }
            state.slots[index].readers -= 1
            guard state.slots[index].readers == 0, state.slots.count > state.kept else { return nil }
            return state.slots.remove(at: index).queue
        }
        superfluous?.closeNow()
    }

    func letGo() {
        let idle = state.withLock { state -> [DatabaseQueue] in
            state.kept = 0
            // One that is read is closed by nobody but its last reader, who comes here first.
            for slot in state.slots where slot.readers > 0 { slot.queue.interrupt() }
            let idle = state.slots.filter { $0.readers == 0 }.map(\.queue)
            state.slots.removeAll { $0.readers == 0 }
            return idle
        }
        for queue in idle { queue.closeNow() }
    }
}

extension DatabaseQueue {
    /// Closes the connection before this returns, unless a reader has kept a statement: then it goes with that.
    fileprivate func closeNow() { try? close() }
}
