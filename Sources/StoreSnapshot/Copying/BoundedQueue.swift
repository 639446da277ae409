import Dispatch
import Synchronization

/// A queue from one thread to another, in order: the producer waits while the consumer is behind by a few elements.
package final class BoundedQueue<Element: Sendable>: Sendable {
    /// `nil` once the consumer has left.
    private let waiting = Mutex<[Element]?>([])
    // Dispatch traps at a semaphore that ends with less than it began with.
    private let room = DispatchSemaphore(value: 0)
    private let filled = DispatchSemaphore(value: 0)

    /// - Parameter most: Elements that may wait to be taken.
    package init(most: Int) {
        for _ in 0..<most { room.signal() }
    }

    /// Waits until there is room.
    ///
    /// - Returns: Whether the consumer still takes.
    package func give(_ element: Element) -> Bool {
        room.wait()
        let isTaken = waiting.withLock { waiting in
            waiting?.append(element)
            return waiting != nil
        }
        filled.signal()
        return isTaken
    }

    /// Nothing more comes.
    package func end() { filled.signal() }

    /// Waits until there is an element.
    ///
    /// - Returns: `nil` once nothing more comes.
    package func take() -> Element? {
        filled.wait()
        let element = waiting.withLock { $0?.isEmpty == false ? $0?.removeFirst() : nil }
        if element != nil { room.signal() }
        return element
    }

    /// The consumer takes nothing more: the producer need not wait.
    package func leave() {
        waiting.withLock { $0 = nil }
        room.signal()
    }
}
