import Dispatch
import StoreSnapshot
import Synchronization
import Testing

@Suite struct BoundedQueueTests {
    @Test func `what is given is taken in order, and then there is nothing more`() {
        let queue = BoundedQueue<Int>(most: 3)
        let taken = Mutex<[Int]>([])
        let others = DispatchGroup()
        DispatchQueue(label: "takes").async(group: others) {
            while let number = queue.take() { taken.withLock { $0.append(number) } }
        }
        for number in 0..<1000 { #expect(queue.give(number)) }
        queue.end()
        others.wait()
        #expect(taken.withLock { $0 } == Array(0..<1000))
    }

    @Test func `whoever gives does not wait for one who takes nothing more`() {
        let queue = BoundedQueue<Int>(most: 2)
        #expect(queue.give(1))
        #expect(queue.take() == 1)
        #expect(queue.give(2) && queue.give(3))
        let hasEnded = DispatchSemaphore(value: 0)
        let isTaken = Mutex(true)
        DispatchQueue(label: "gives").async {
            // There is no room until the other one leaves.
            isTaken.withLock { $0 = queue.give(4) }
            hasEnded.signal()
        }
        queue.leave()
        #expect(hasEnded.wait(timeout: .now() + 10) == .success)
        #expect(!isTaken.withLock { $0 })
    }

    @Test func `one that ends while something waits hands that on`() {
        let queue = BoundedQueue<Int>(most: 2)
        #expect(queue.give(1) && queue.give(2))
        queue.end()
        #expect(queue.take() == 1 && queue.take() == 2)
        #expect(queue.take() == nil)
    }
}
