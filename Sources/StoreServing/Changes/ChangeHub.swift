import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization

/// Tells all subscribers of a coordinator that there may be something new. One watch serves them all, and only while there are any.
final class ChangeHub: Sendable {
    private struct State {
        /// Each has a signal, which stands for all that follow until the subscriber takes it, and the stores that were rewritten in
        /// place and that the subscriber has not been told of, each once.
        var subscribers: [Int: (signal: AsyncStream<Void>.Continuation, rewritten: [StoreName])] = [:]
        var lastID = 0
        var watch: InboxWatch?
        /// The last watch that lost its subscribers: its thread may have something open for a moment.
        var ended: InboxWatch?
        var isSuspended = false
    }

    /// `nil` for a coordinator of single files.
    private let inbox: Inbox?
    private let watching: Watching
    private let state = Mutex(State())

    init(_ inbox: Inbox?, _ watching: Watching) {
        self.inbox = inbox
        self.watching = watching
    }

    /// - Returns: What to unsubscribe with.
    /// - Throws: `.watch` if there is no descriptor left.
    func subscribe(_ signal: AsyncStream<Void>.Continuation) throws(FileError) -> Int {
        try state.withLock { state throws(FileError) in
            try watch(&state)
            state.lastID += 1
            state.subscribers[state.lastID] = (signal, [])
            return state.lastID
        }
    }

    private func watch(_ state: inout State) throws(FileError) {
        guard let inbox, state.watch == nil, !state.isSuspended else { return }
        state.watch = try InboxWatch(inbox, watching) { [weak self] in self?.notify() }
    }

    /// - Returns: The watches that may have something open, to be ended.
    func suspend() -> [InboxWatch] {
        state.withLock { state in
            state.isSuspended = true
            return [state.watch.take(), state.ended.take()].compactMap(\.self)
        }
    }

    /// Subscribers are told to look at what has changed meanwhile.
    ///
    /// - Throws: `.watch` if there is no descriptor left: it stays suspended.
    func resume() throws(FileError) {
        try state.withLock { state throws(FileError) in
            guard state.isSuspended else { return }
            state.isSuspended = false
            guard !state.subscribers.isEmpty else { return }
            do throws(FileError) {
                try watch(&state)
            } catch {
                state.isSuspended = true
                throw error
            }
        }
    }

    func unsubscribe(_ id: Int) {
        // The watch ends outside of the lock.
        let ended = state.withLock { state -> InboxWatch? in
            state.subscribers[id] = nil
            guard state.subscribers.isEmpty, let watch = state.watch.take() else { return nil }
            state.ended = watch
            return watch
        }
        ended?.tellToEnd()
    }

    func notify() {
        state.withLock { state in
            for subscriber in state.subscribers.values { subscriber.signal.yield() }
        }
    }

    func noteRewritten(_ name: StoreName) {
        state.withLock { state in
            for id in state.subscribers.keys where state.subscribers[id]?.rewritten.contains(name) == false {
                state.subscribers[id]?.rewritten.append(name)
            }
        }
        notify()
    }

    /// The next store that was rewritten and that the subscriber has not been told of.
    func takeRewritten(for id: Int) -> StoreName? {
        state.withLock { state in
            state.subscribers[id]?.rewritten.isEmpty == false ? state.subscribers[id]?.rewritten.removeFirst() : nil
        }
    }
}
