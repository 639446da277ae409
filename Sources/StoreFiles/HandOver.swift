import Dispatch
import Synchronization

/// What one thread makes and another one takes, in order; the first waits while the other is behind by a few.
package final class HandOver<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        /// Nobody takes any more.
        var isLeft = false
    }

    private let state = Mutex(State())
    // It has to end with no less than it began with.
    private let room = DispatchSemaphore(value: 0)
    private let filled = DispatchSemaphore(value: 0)

    /// - Parameter most: Elements that wait to be taken.
    package init(most: Int) {
        for _ in 0..<most { room.signal() }
    }

    /// Waits until there is room.
    ///
    /// - Returns: Whether somebody still takes.
    package func give(_ element: Element) -> Bool {
        room.wait()
        let isLeft = state.withLock { state in
            if !state.isLeft { state.waiting.append(element) }
            return state.isLeft
        }
        filled.signal()
        return !isLeft
    }

    /// Nothing more comes.
    package func end() { filled.signal() }

    /// Waits until there is one.
    ///
    /// - Returns: `nil` once nothing more comes.
    package func take() -> Element? {
        filled.wait()
        let element = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        if element != nil { room.signal() }
        return element
    }

    /// Takes nothing more: whoever gives need not wait.
    package func leave() {
        state.withLock { state in
            state.isLeft = true
            state.waiting = []
        }
        room.signal()
    }
}
