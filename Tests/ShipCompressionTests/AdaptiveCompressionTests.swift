import ShipCompression
import ShipProtocol
import Testing

@Suite struct `The effort` {
    private static let store: Int64 = 20_000_000
    private static let mebibyte: Int64 = 1_048_576

    private func policy(
        _ effort: Effort = .auto, _ encoding: PartEncoding = .columns, over link: AdaptiveCompression.Link,
        store: Int64 = store,
        total: Int64? = nil
    ) -> AdaptiveCompression {
        AdaptiveCompression(effort, encoding, over: link, storeSize: store, totalSize: total ?? store)
    }

    private static let slow = AdaptiveCompression.Link.twoWay(roundTrip: .milliseconds(40))
    private static let near = AdaptiveCompression.Link.twoWay(roundTrip: .microseconds(300))

    /// A piece of 1 MiB that became 300 kB.
    private func send(
        _ policy: inout AdaptiveCompression, encoding: Duration, waiting: Duration, wire: Int64 = 300_000
    ) -> Bool {
        policy.sent(storeBytes: Self.mebibyte, wireBytes: wire, encoding: encoding, waiting: waiting)
    }

    @Test func `a large whole that is published is not made as small as it can be, unless that is said`() {
        let (small, large) = (Int64(1_000_000), Int64(200_000_000))
        #expect(Effort.auto.ofWhole(storeSize: small) == .auto)
        #expect(Effort.auto.ofWhole(storeSize: large) == .level(.standard))
        #expect(Effort.level(.smallest).ofWhole(storeSize: large) == .level(.smallest))
    }

    @Test(arguments: [AdaptiveCompression.Link.file, .pipe, slow, near], [PartEncoding.columns, .blocks])
    func `stays what the user says`(link: AdaptiveCompression.Link, form: PartEncoding) throws {
        let level = try #require(CompressionLevel(4))
        var policy = policy(.level(level), form, over: link)
        for waiting in [0, 0, 5000, 0] {
            #expect(!send(&policy, encoding: .milliseconds(50), waiting: .milliseconds(waiting)))
        }
        #expect(policy.level == level && policy.encoding == form)
    }

    @Test func `is the highest for a file, whatever the disk does`() {
        var policy = policy(over: .file)
        for _ in 0..<20 { #expect(!send(&policy, encoding: .milliseconds(80), waiting: .zero)) }
        #expect(policy.level == .smallest && policy.encoding == .columns)
    }

    @Test func `is a low one for a small shipment over a link within a machine, which goes by its rows all the same`() {
        var policy = policy(over: Self.near, store: 4_000_000)
        for _ in 0..<3 { #expect(!send(&policy, encoding: .milliseconds(500), waiting: .zero)) }
        #expect(policy.level == .quick && policy.encoding == .columns)
    }

    @Test func `of a small shipment is raised little by an answer that a busy machine delays`() {
        func level(after milliseconds: Int) -> CompressionLevel {
            policy(over: .twoWay(roundTrip: .milliseconds(milliseconds)), store: 1_000_000).level
        }
        #expect(level(after: 7) == .quick)
        #expect(level(after: 8) == .standard && level(after: 15) == .standard)
        #expect(level(after: 16) == .smallest)
    }

    @Test func `is one for a slow link from the start where the user limits the rate`() {
        func level(_ limit: Int, _ store: Int64) -> CompressionLevel {
            policy(over: .twoWay(roundTrip: .microseconds(300), limit: limit), store: store).level
        }
        #expect(level(1_000_000, 1_000_000) == .standard && level(1_000_000, Self.store) == .smallest)
        #expect(level(1_000_001, 1_000_000) == .quick && level(1_000_001, Self.store) == .fastest)
    }

    @Test(arguments: [AdaptiveCompression.Link.pipe, slow])
    func `is the highest for a small shipment`(link: AdaptiveCompression.Link) {
        var policy = policy(over: link, store: 4_000_000)
        for _ in 0..<3 { #expect(!send(&policy, encoding: .milliseconds(500), waiting: .zero)) }
        #expect(policy.level == .smallest && policy.encoding == .columns)
    }

    @Test func `of a small store with large files follows the link, and the rows stay`() {
        var policy = policy(over: Self.near, store: 2_000_000, total: 900_000_000)
        #expect(policy.level == .fastest)
        for _ in 0..<3 { #expect(!send(&policy, encoding: .milliseconds(50), waiting: .zero)) }
        #expect(policy.encoding == .columns)
    }

    @Test func `is the highest at once where a round trip takes milliseconds`() {
        #expect(policy(over: Self.slow).level == .smallest)
        #expect(policy(over: .twoWay(roundTrip: .milliseconds(8))).level == .smallest)
        #expect(policy(over: .twoWay(roundTrip: .microseconds(7900))).level == .fastest)
    }

    @Test func `is not lowered by what the buffers of a slow link take at once`() {
        var policy = policy(over: Self.slow)
        for _ in 0..<6 { _ = send(&policy, encoding: .milliseconds(100), waiting: .zero) }
        #expect(policy.level == .smallest)
        // Over 2 MiB on the wire are in no buffer.
        for _ in 0..<2 { _ = send(&policy, encoding: .milliseconds(100), waiting: .zero) }
        #expect(policy.level.value < CompressionLevel.smallest.value)
        #expect(policy.encoding == .columns)
    }

    @Test func `gives the rows up where the link takes the first of them at once`() {
        var policy = policy(over: Self.near)
        #expect(send(&policy, encoding: .milliseconds(60), waiting: .milliseconds(1)))
        #expect(policy.encoding == .blocks && policy.level == .fastest)
        for _ in 0..<3 { #expect(!send(&policy, encoding: .milliseconds(60), waiting: .zero)) }
        #expect(policy.level == .stored)
    }

    @Test func `is tried before anything is done that can wait, and a busy other side is not a slow link`() {
        var policy = policy(over: Self.near)
        #expect(policy.isOnTrial)
        let first = policy.sent(storeBytes: 300_000, wireBytes: 100_000, encoding: .milliseconds(5), waiting: .zero)
        #expect(!first)
        #expect(policy.isOnTrial)
        // 400 kB in 20 ms.
        #expect(send(&policy, encoding: .milliseconds(5), waiting: .milliseconds(20)))
        #expect(!policy.isOnTrial)
        #expect(!self.policy(over: Self.slow).isOnTrial)
    }

    @Test func `keeps the rows where the link keeps the sender waiting, and rises`() {
        var policy = policy(over: Self.near)
        var levels = [policy.level.value]
        for _ in 0..<4 {
            #expect(!send(&policy, encoding: .milliseconds(60), waiting: .milliseconds(1200)))
            levels.append(policy.level.value)
        }
        #expect(levels == [1, 6, 12, 12, 12])
        #expect(policy.encoding == .columns)
        // It was found slow once: rows that are half sent are not taken back.
        for _ in 0..<20 { #expect(!send(&policy, encoding: .milliseconds(60), waiting: .zero)) }
        #expect(policy.encoding == .columns && policy.level == .fastest)
    }

    @Test func `is not raised where the other side is what one waits for`() {
        var policy = policy(.auto, .blocks, over: Self.near)
        for _ in 0..<5 { _ = send(&policy, encoding: .milliseconds(5), waiting: .milliseconds(15)) }
        #expect(policy.level == .fastest)
        for _ in 0..<2 { _ = send(&policy, encoding: .milliseconds(5), waiting: .milliseconds(30)) }
        #expect(policy.level == .standard)
    }

    @Test func `deflates nothing where the link takes the bytes that this saves in less time than it takes`() {
        func levelAfter(encoding: Int, waiting: Int, wire: Int64 = 700_000) -> CompressionLevel {
            var policy = policy(.auto, .blocks, over: Self.near)
            _ = send(&policy, encoding: .milliseconds(encoding), waiting: .milliseconds(waiting), wire: wire)
            return policy.level
        }
        // The link takes 700 kB in 20 ms, and the other 349 kB in 10 ms.
        #expect(levelAfter(encoding: 11, waiting: 20) == .stored)
        #expect(levelAfter(encoding: 9, waiting: 20) == .fastest)
        // What does not deflate is not found out by the time that it takes.
        #expect(levelAfter(encoding: 11, waiting: 20, wire: Self.mebibyte + 8) == .fastest)
        // A link that is slow is worth it, however long it takes.
        #expect(levelAfter(encoding: 110, waiting: 110) == .quick)
    }

    @Test func `stays low where a link that was fast waits for a busy disk`() {
        var policy = policy(.auto, .blocks, over: Self.near, store: 1_000_000_000)
        for _ in 0..<8 { _ = send(&policy, encoding: .milliseconds(5), waiting: .milliseconds(15), wire: 400_000) }
        #expect(policy.level == .fastest)
        for _ in 0..<8 { _ = send(&policy, encoding: .milliseconds(5), waiting: .milliseconds(800), wire: 400_000) }
        #expect(policy.level == .quick)
        // One that was never fast is worth the most.
        var slow = self.policy(.auto, .blocks, over: Self.near, store: 1_000_000_000)
        for _ in 0..<8 { _ = send(&slow, encoding: .milliseconds(5), waiting: .milliseconds(800), wire: 400_000) }
        #expect(slow.level == .smallest)
    }

    @Test func `is not judged by moments, nor past the middle of a store`() {
        var policy = policy(over: Self.near, store: 4 * Self.mebibyte)
        #expect(!send(&policy, encoding: .milliseconds(1), waiting: .zero))
        #expect(!send(&policy, encoding: .milliseconds(1), waiting: .zero))
        #expect(!send(&policy, encoding: .milliseconds(50), waiting: .zero))
        #expect(policy.encoding == .columns)
    }

    @Test func `follows a pipe both ways, from the middle`() {
        var policy = policy(over: .pipe)
        #expect(policy.level == .standard)
        _ = send(&policy, encoding: .milliseconds(400), waiting: .milliseconds(600))
        #expect(policy.level.value == 9)
        _ = send(&policy, encoding: .milliseconds(700), waiting: .milliseconds(300))
        #expect(policy.level.value == 9)
        for _ in 0..<5 { #expect(!send(&policy, encoding: .milliseconds(100), waiting: .zero)) }
        #expect(policy.level == .fastest && policy.encoding == .columns)
    }

    @Test func `gives a delta up where all of the store takes no longer`() {
        func limit(_ link: AdaptiveCompression.Link, _ size: Int64) -> Int64 {
            AdaptiveCompression(.auto, .delta, over: link, storeSize: size, totalSize: size).deltaLimit
        }
        #expect(limit(.twoWay(roundTrip: .milliseconds(1)), 80_000_000) == 10_000_000)
        #expect(limit(.twoWay(roundTrip: .milliseconds(40)), 80_000_000) == 80_000_000)
        #expect(limit(.file, 80_000_000) == 80_000_000)
        // A small one is not worth the thought.
        #expect(limit(.twoWay(roundTrip: .milliseconds(1)), 10_000) == 1_048_576)
    }
}
