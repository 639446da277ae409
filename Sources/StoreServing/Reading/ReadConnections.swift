import GRDB
import Synchronization

/// The connections to one file, opened as they are needed, so that its reads run side by side.
///
/// A blocking read never waits for another one: a read inside a read, which the same connection could not serve, gets
/// one of its own. Asynchronous reads, of which a program may begin thousands at once, share `kept` connections.
final class ReadConnections: Sendable {
    /// How many stay open while nobody reads.
    static let kept = 4

    private struct Slot {
        let queue: DatabaseQueue
        var readers: Int
    }

    private let open: @Sendable () throws -> DatabaseQueue
    private let slots = Mutex<[Slot]>([])

    /// - Parameter open: Opens one more connection. It throws if that is no longer the same file.
    init(open: @escaping @Sendable () throws -> DatabaseQueue) { self.open = open }

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
        let free = slots.withLock { slots -> DatabaseQueue? in
            // The first ones first, so that their caches stay warm.
            var chosen = slots.firstIndex { $0.readers == 0 }
            if chosen == nil, reader == .waiting, slots.count >= Self.kept {
                chosen = slots.indices.min { slots[$0].readers < slots[$1].readers }
            }
            guard let chosen else { return nil }
            slots[chosen].readers += 1
            return slots[chosen].queue
        }
        if let free { return Loan(queue: free) }
        let queue = try open()
        slots.withLock { $0.append(Slot(queue: queue, readers: 1)) }
        return Loan(queue: queue)
    }

    /// Opens the first connection, to find out whether it can be done.
    func open(_ reader: Reader) throws { giveBack(try borrow(for: reader)) }

    func giveBack(_ loan: Loan) {
        // What is closed is closed outside of the lock.
        _ = slots.withLock { slots -> DatabaseQueue? in
            guard let index = slots.firstIndex(where: { $0.queue === loan.queue }) else { return nil }
            slots[index].readers -= 1
            guard slots[index].readers == 0, slots.count > Self.kept else { return nil }
            return slots.remove(at: index).queue
        }
    }
}
