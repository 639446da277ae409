import NIOCore
import Synchronization

/// By which a listener is told to accept no more, before or after it has begun to.
package final class ListenerStop: Sendable {
    private enum State {
        case waiting
        case listening(any Channel)
        case stopped
    }

    private let state = Mutex(State.waiting)

    package init() {}

    package func stop() {
        let channel = state.withLock { state -> (any Channel)? in
            defer { state = .stopped }
            if case .listening(let channel) = state { return channel }
            return nil
        }
        channel?.close(promise: nil)
    }

    func closes(_ channel: any Channel) {
        let isStopped = state.withLock { state in
            if case .stopped = state { return true }
            state = .listening(channel)
            return false
        }
        if isStopped { channel.close(promise: nil) }
    }
}
