import StoreFiles
import TestSupport
import Testing

@testable import ShipProtocol

/// Which steps a follower takes, and which a publisher keeps.
@Suite struct PublishedStepTests {
    @Test(arguments: 0..<UInt64(Soak.isOn ? 20_000 : 1_000))
    func `the way of the fewest bytes is found, if there is one`(seed: UInt64) {
        var random = RepeatableRandom(seed: seed)
        let contents = (0..<5).map { Self.content($0) }
        let steps = (0..<Int.random(in: 0...7, using: &random)).map { _ in
            PublishedStep(
                from: [nil, contents.randomElement(using: &random)][Int.random(in: 0...1, using: &random)],
                to: contents[Int.random(in: 0..<5, using: &random)],
                counter: UInt64.random(in: 1...6, using: &random), size: Int64.random(in: 1...100_000, using: &random),
                sha256: nil)
        }
        let held = [nil, contents[0]][Int.random(in: 0...1, using: &random)]
        let counter = UInt64.random(in: 0...3, using: &random)
        let size = Int64.random(in: 0...100_000_000, using: &random)
        let found = PublishedStep.route(from: held, above: counter, to: contents[4], among: steps, storeSize: size)
        let ways = Self.ways(from: held, above: counter, to: contents[4], steps)
        if held == contents[4] { return #expect(found == []) }
        let cost = { (way: [PublishedStep]) in way.reduce(0) { $0 + $1.size + 1024 + size / 1024 } }
        #expect(found.map(cost) == ways.map(cost).min(), "seed \(seed)")
        if let found { #expect(ways.contains(found), "seed \(seed)") }
    }

    /// All ways whose numbers rise.
    private static func ways(
        from held: ManifestContent.ID?, above counter: UInt64, to newest: ManifestContent.ID, _ steps: [PublishedStep]
    ) -> [[PublishedStep]] {
        steps.flatMap { step -> [[PublishedStep]] in
            guard step.from == held || step.from == nil, step.counter > counter else { return [] }
            let rest = ways(from: step.to, above: step.counter, to: newest, steps).map { [step] + $0 }
            return step.to == newest ? rest + [[step]] : rest
        }
    }

    /// As a publisher does it: steps stand in the head, and then in a catalog; copies of earlier contents may be lost, and a whole is made
    /// where there is no other way.
    @Test(arguments: 0..<UInt64(Soak.isOn ? 300 : 6))
    func `whatever was published, a way leads from it to the newest, and is short to read`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let (size, name) = (Int64(1_000_000), try #require(StoreName("Recipes")))
        func step(_ from: Int?, _ counter: Int, _ size: ClosedRange<Int64> = 1...2000) -> PublishedStep {
            PublishedStep(
                from: from.map(Self.content), to: Self.content(counter), counter: UInt64(counter),
                size: Int64.random(in: size, using: &random), sha256: ContentDigest(sha256: random.bytes(32)))
        }
        var (catalogs, head): ([(content: Int, landmark: Int, catalog: StoreCatalog)], [PublishedStep]) = ([], [])
        var wholes = 0
        for counter in 1...400 {
            let isLost = Int.random(in: 0..<60, using: &random) == 0
            let single = counter == 1 || isLost ? nil : step(counter - 1, counter)
            if let single, head.count < Int.random(in: 0...8, using: &random), !catalogs.isEmpty {
                head.append(single)
            } else {
                var others = head + [single].compactMap(\.self)
                var next: StoreCatalog?
                let before = catalogs.last.map {
                    PublishedObject(sha256: ContentDigest(hashing: $0.catalog.encoded), size: 100)
                }
                if let last = catalogs.last, let before, !isLost {
                    let skip = last.content == counter - 1 ? single : step(last.content, counter, 500...8000)
                    let leap =
                        last.catalog.isLeapDue
                        ? (last.landmark == counter - 1 ? single : step(last.landmark, counter, 4000...20_000)) : nil
                    if let skip {
                        next = last.catalog.next(before, skip: skip, leap: leap, steps: others.filter { $0 != skip })
                        if next == nil { others = others.filter { $0 != skip } + [skip] }
                    }
                }
                if next == nil { wholes += 1 }
                let made =
                    next
                    ?? StoreCatalog(name, step(nil, counter, 100_000...200_000), after: before, steps: others)
                #expect(try StoreCatalog(decoding: made.encoded) == made, "seed \(seed)")
                #expect(made.encoded.count < 8192)
                #expect(made.newest == Self.content(counter) && made.counter == UInt64(counter))
                let landmark = made.landmark == made.newest ? counter : catalogs.last?.landmark ?? counter
                catalogs.append((counter, landmark, made))
                head = []
            }
            let newest = Self.content(counter)
            guard counter % 7 == 0 || counter > 380 else { continue }
            // Who holds nothing reads one catalog.
            let last = try #require(catalogs.last?.catalog)
            let first = PublishedStep.route(
                from: nil, above: 0, to: newest, among: head + last.all, storeSize: size)
            #expect(first != nil, "seed \(seed), at \(counter)")
            #expect(first?.count ?? 0 <= 1 + 64 + 8 + 8)
            for held in 1..<counter {
                // As many as have something later.
                var steps = head
                for known in catalogs.reversed() {
                    steps += known.catalog.all
                    if known.catalog.counter <= UInt64(held) { break }
                }
                let route = PublishedStep.route(
                    from: Self.content(held), above: UInt64(held), to: newest, among: steps, storeSize: size)
                #expect(route != nil, "seed \(seed): from \(held) to \(counter)")
            }
        }
        #expect(wholes < 40 && catalogs.count > 50)
    }

    static func content(_ number: Int) -> ManifestContent.ID { ManifestContent(json: Array("\(number)".utf8)).id }
}
