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

    /// As a publisher does it: each content follows the last one, and a whole comes when it is needed, or now and then.
    @Test(arguments: 0..<UInt64(Soak.isOn ? 500 : 50))
    func `whatever was published, a way leads from it to the newest`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        var catalog = StoreCatalog(name: try #require(StoreName("Recipes")), steps: [], gone: [])
        func step(_ from: Int?, _ counter: Int, _ size: Int64) -> PublishedStep {
            PublishedStep(
                from: from.map(Self.content), to: Self.content(counter), counter: UInt64(counter), size: size,
                sha256: ContentDigest(sha256: random.bytes(32)))
        }
        let (size, time) = (Int64(1_000_000), try #require(Timestamp.start))
        var gone: Set<ContentDigest> = []
        for counter in 1...150 {
            let newest = Self.content(counter)
            var added = [step(counter - 1, counter, Int64.random(in: 1...9000, using: &random))]
            if counter == 1 || Int.random(in: 0..<30, using: &random) == 0 { added.append(step(nil, counter, 100_000)) }
            if counter > 1, Int.random(in: 0..<8, using: &random) == 0 {
                added.append(step(Int.random(in: 0..<counter - 1, using: &random), counter, 3000))
            }
            if StoreCatalog.needsWhole(catalog.steps + added, to: newest, storeSize: size) {
                added.append(step(nil, counter, Int64.random(in: 50_000...150_000, using: &random)))
            }
            let before = catalog
            catalog = catalog.adding(added, newest: newest, storeSize: size, at: time)
            for held in 0..<counter {
                let route = PublishedStep.route(
                    from: held == 0 ? nil : Self.content(held), above: UInt64(held), to: newest,
                    among: catalog.steps, storeSize: size)
                #expect(route != nil, "seed \(seed): from \(held) to \(counter)")
            }
            let route = PublishedStep.route(from: nil, above: 0, to: newest, among: catalog.steps, storeSize: size)
            #expect(route?.reduce(0) { $0 + $1.size } ?? .max <= 250_000)
            // What went is named, and what is needed is not.
            let (was, has) = (Set(before.steps.map(\.sha256)), Set(catalog.steps.map(\.sha256)))
            gone.formUnion(was.subtracting(has).compactMap(\.self))
            #expect(Set(catalog.gone.map(\.sha256)) == gone)
            #expect(try StoreCatalog(decoding: catalog.encoded) == catalog)
        }
        #expect(catalog.steps.count < 150)
    }

    static func content(_ number: Int) -> ManifestContent.ID { ManifestContent(json: Array("\(number)".utf8)).id }
}

extension Timestamp {
    static let start = Timestamp("2026-11-20T19:04:05Z")
}
