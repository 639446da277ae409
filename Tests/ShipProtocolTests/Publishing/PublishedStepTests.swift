import EssentialFoundation
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
        let ending = [0, UInt64.random(in: 0...6, using: &random)][Int.random(in: 0...1, using: &random)]
        let found = PublishedStep.route(
            from: held, above: counter, to: contents[4], endingAbove: ending, among: steps, storeSize: size)
        let ways = Self.ways(from: held, above: counter, to: contents[4], steps).filter {
            ($0.last?.counter ?? 0) > ending
        }
        if held == contents[4] { return #expect(found == []) }
        let cost = { (way: [PublishedStep]) in way.reduce(0) { $0 + $1.size + 1024 + size / 1024 } }
        #expect(found.map(cost) == ways.map(cost).min(), "seed \(seed)")
        if let found { #expect(ways.contains(found), "seed \(seed)") }
    }

    /// A publisher decides how many steps there are.
    @Test(.enabled(if: MemoryUse.isMeaningful)) func `a way of thousands of steps takes little memory`() async {
        await #expect(processExitsWith: .success) {
            let steps = (1...8000).map {
                PublishedStep(
                    from: PublishedStepTests.content($0 - 1), to: PublishedStepTests.content($0), counter: UInt64($0),
                    size: 1, sha256: nil)
            }
            let before = try MemoryUse.peak
            let found = PublishedStep.route(
                from: PublishedStepTests.content(0), above: 0, to: PublishedStepTests.content(8000),
                among: steps.reversed(), storeSize: 1)
            #expect(found == steps)
            let grown = try MemoryUse.peak - before
            #expect(grown < 50_000_000, "\(grown) bytes")
        }
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
        let name = try #require(StoreName("Recipes"))
        func step(_ from: Int?, _ counter: Int, _ size: ClosedRange<Int64>) -> PublishedStep {
            PublishedStep(
                from: from.map(Self.content), to: Self.content(counter), counter: UInt64(counter),
                size: Int64.random(in: size, using: &random), sha256: ContentDigest(sha256: random.bytes(32)))
        }
        func single(_ counter: Int) -> InlineStep {
            if Int.random(in: 0..<5, using: &random) == 0 { return InlineStep(step(counter - 1, counter, 400...8000)) }
            let bytes = random.bytes(Int.random(in: 200...500, using: &random))
            let step = PublishedStep(
                from: Self.content(counter - 1), to: Self.content(counter), counter: UInt64(counter),
                size: Int64(bytes.count), sha256: nil)
            return InlineStep(step.signed(random.bytes(Signature.size)), shipment: bytes)
        }
        var (catalogs, head): ([StoreCatalog.KnownCatalog], [InlineStep]) = ([], [])
        var (wholes, mostReads) = (0, 0)
        for counter in 1...500 {
            let isLost = Int.random(in: 0..<80, using: &random) == 0
            let last = catalogs.last
            let single = counter == 1 || isLost ? nil : single(counter)
            if let single, single.step.sha256 == nil, head.count < Int.random(in: 0...8, using: &random), last != nil {
                head.append(single)
            } else {
                let singles = (head + [single].compactMap(\.self)).signedAtEnd
                let bundled = singles.bundle(by: ContentDigest(sha256: random.bytes(32)))
                let bundle =
                    singles.allSatisfy({ $0.step.sha256 != nil })
                    ? nil : PublishedObject(sha256: ContentDigest(hashing: bundled), size: Int64(bundled.count))
                let steps = singles.map(\.step)
                var (next, skipped): (StoreCatalog?, [PublishedStep]) = (nil, [])
                if let last, !isLost {
                    let landmark = try #require(
                        catalogs.last { $0.link == last.catalog.landmark ?? last.link })
                    let skip = step(Int(last.link.counter), counter, 500...4000)
                    let leap =
                        landmark.link == last.link
                        ? skip
                        : Int.random(in: 0..<10, using: &random) == 0
                            ? nil : step(Int(landmark.link.counter), counter, 1000...8000)
                    next = StoreCatalog(after: last, landmark: landmark, skip: skip, leap: leap, steps: steps, bundle)
                    if next == nil { skipped = [skip] }
                }
                if next == nil { wholes += 1 }
                let made =
                    next
                    ?? StoreCatalog(
                        name, step(nil, counter, 60_000...200_000), after: last?.link, steps: steps + skipped,
                        bundle)
                let bytes = made.encoded
                #expect(try StoreCatalog(decoding: bytes) == made, "seed \(seed)")
                #expect(try bundle == nil || made.shipments(in: bundled) == singles.filter { $0.step.sha256 == nil })
                #expect(throws: ProtocolError.self) { try made.shipments(in: Array(bundled.dropLast())) }
                #expect(made.newest == Self.content(counter) && made.counter == UInt64(counter))
                catalogs.append(
                    StoreCatalog.KnownCatalog(
                        made, at: PublishedObject(sha256: ContentDigest(hashing: bytes), size: Int64(bytes.count))))
                head = []
            }
            guard counter % 17 == 0 || counter > 495, let object = catalogs.last?.link.object else { continue }
            let store = PublishedHead.Store(
                name: name, newest: Self.content(counter), counter: UInt64(counter), asOf: Timestamp(Date()),
                size: 1_000_000, catalog: object, steps: head.filter { $0.step.sha256 == nil })
            let some = (0..<30).map { _ in Int?.some(Int.random(in: 1..<counter, using: &random)) }
            for held in [nil] + (counter == 500 ? (1..<counter).map(Optional.some) : some) {
                var search = StepSearch(
                    for: store, from: held.map(Self.content), above: UInt64(held ?? 0))
                var reads = 0
                while let next = search.next(beyond: search.route) {
                    let found = try #require(catalogs.first { $0.link.object == next })
                    search.add(found.catalog, at: next)
                    reads += 1
                }
                #expect(search.route != nil, "seed \(seed): from \(held ?? 0) to \(counter)")
                mostReads = max(mostReads, reads)
                // Who holds what came after the first of its leaps reads the last one, one that these name, and the first after what is held.
                let leaps = catalogs.last?.catalog.leaps ?? []
                if let held, UInt64(held) >= leaps.first?.catalog.counter ?? .max { #expect(reads <= 3) }
                // Who holds nothing reads the last one, and that of its landmark.
                if held == nil { #expect(reads <= 2 && search.route?.count ?? 0 <= 1 + 64 + 1 + 8) }
            }
        }
        #expect(wholes < 60 && catalogs.count > 50)
        #expect(mostReads <= 12, "seed \(seed)")
    }

    static func content(_ number: Int) -> ManifestContent.ID { ManifestContent(json: Array("\(number)".utf8)).id }
}
