import Dispatch
import StoreFiles
import Synchronization
import Testing

@Suite struct HandOverTests {
    @Test func `what is given is taken in order, and then there is nothing more`() {
        let handOver = HandOver<Int>(most: 3)
        let taken = Mutex<[Int]>([])
        let others = DispatchGroup()
        DispatchQueue(label: "takes").async(group: others) {
            while let number = handOver.take() { taken.withLock { $0.append(number) } }
        }
        for number in 0..<1000 { #expect(handOver.give(number)) }
        handOver.end()
        others.wait()
        #expect(taken.withLock { $0 } == Array(0..<1000))
    }

    @Test func `whoever gives does not wait for one who takes nothing more`() {
        let handOver = HandOver<Int>(most: 2)
        #expect(handOver.give(1))
        #expect(handOver.take() == 1)
        #expect(handOver.give(2) && handOver.give(3))
        let hasEnded = DispatchSemaphore(value: 0)
        let isTaken = Mutex(true)
        DispatchQueue(label: "gives").async {
            // There is no room until the other one leaves.
            isTaken.withLock { $0 = handOver.give(4) }
            hasEnded.signal()
        }
        handOver.leave()
        #expect(hasEnded.wait(timeout: .now() + 10) == .success)
        #expect(!isTaken.withLock { $0 })
    }

    @Test func `one that ends while something waits hands that on`() {
        let handOver = HandOver<Int>(most: 2)
        #expect(handOver.give(1) && handOver.give(2))
        handOver.end()
        #expect(handOver.take() == 1 && handOver.take() == 2)
        #expect(handOver.take() == nil)
    }
}
