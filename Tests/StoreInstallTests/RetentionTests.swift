import ShipProtocol
import StoreInbox
import TestSupport
import Testing

/// Which of very many generations stay.
@Suite struct RetentionTests {
    /// - Parameter current: Where it is among them.
    private func superfluous(
        _ retention: Retention, _ ages: [Duration], current: Int, rejected: Set<Int> = []
    ) throws -> [Int] {
        let names = try ages.indices.map { try #require(GenerationName("\($0 + 1)-00000000")) }
        var asked: Set<Int> = []
        let superfluous = retention.superfluous(of: names, current: names[current], rejected: rejected) { name in
            #expect(asked.insert(name.number).inserted)
            return ages[name.number - 1]
        }
        return superfluous.map(\.number)
    }

    /// The rule, with one turn for each that goes.
    private func expected(
        _ retention: Retention, _ ages: [Duration], current: Int, rejected: Set<Int>
    ) -> [Int] {
        var kept = ages.indices.filter { $0 != current }
        var going: Set<Int> = []
        let (staying, second) = (retention.count - 1, Duration.seconds(1))
        while kept.count > staying {
            var next = 0
            if let place = kept.firstIndex(where: { rejected.contains($0 + 1) }) {
                next = place
            } else if staying > 1, ages[kept[0]] <= .seconds(24 * 60 * 60) {
                var least = Double.infinity
                for place in 1..<(kept.count - 1) {
                    let ratio = max(ages[kept[place - 1]], second) / max(ages[kept[place + 1]], second)
                    if ratio < least { (next, least) = (place, ratio) }
                }
            }
            going.insert(kept.remove(at: next))
        }
        return going.filter { place in retention.duration.map { ages[place] > $0 } ?? true }.map { $0 + 1 }.sorted()
    }

    @Test(arguments: 0..<UInt64(300))
    func `all that go at once are those that would go one after the other`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let count = Int.random(in: 1...40, using: &random)
        let longest = [3, 60, 5000, 200_000].randomElement(using: &random) ?? 1
        // Clocks are set: not all that came later are younger. Some are of the same second.
        var ages = (0..<count).map { _ in Duration.seconds(Int.random(in: 0...longest, using: &random)) }
        if Int.random(in: 0...3, using: &random) > 0 { ages.sort(by: >) }
        let duration = Bool.random(using: &random) ? Duration.seconds(Int.random(in: 0...longest, using: &random)) : nil
        let retention = Retention(count: Int.random(in: 1...12, using: &random), duration: duration)
        let current = Int.random(in: 0..<count, using: &random)
        let rejected = Set((0..<count).filter { _ in Int.random(in: 0...9, using: &random) == 0 })
        #expect(
            try superfluous(retention, ages, current: current, rejected: rejected)
                == expected(retention, ages, current: current, rejected: rejected))
    }

    @Test(.timeLimit(.minutes(1))) func `a week of changes is looked through at once`() throws {
        let ages = (0..<60_000).reversed().map { Duration.seconds(10 * $0) }
        let last = ages.count - 1
        let week = Duration.seconds(7 * 86_400)
        #expect(try superfluous(Retention(count: 3, duration: week), ages, current: last) == [])
        let dayAndHour = Retention(count: 3, duration: .seconds(25 * 3600))
        #expect(try superfluous(dayAndHour, ages, current: last).count == 60_000 - 25 * 360 - 1)
        let thousand = Retention(count: 1000, duration: .seconds(3600))
        #expect(try superfluous(thousand, ages.map { $0 / 10 }, current: last).count > 50_000)
    }
}
