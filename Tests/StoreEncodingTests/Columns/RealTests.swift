import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Reals of which some, most or all are decimals.
@Suite struct RealTests {
    /// Values as apps have them: decimals of one scale or of several, beside computed ones and such as are no numbers.
    private static func reals(_ random: inout RepeatableRandom) -> [Double] {
        let count = [1, 9, 70, 1500].randomElement(using: &random) ?? 1
        let scales = (0..<Int.random(in: 1...3, using: &random)).map { _ in Int.random(in: 0...16, using: &random) }
        let share = [0, 1, 10, 60].randomElement(using: &random) ?? 0
        let most = [9, 99_999, 9_999_999_999, 9_007_199_254_740_993].randomElement(using: &random) ?? 9
        return (0..<count).map { _ in
            guard Int.random(in: 0..<100, using: &random) >= share else {
                let odd = [
                    -0.0, .nan, .infinity, .leastNonzeroMagnitude, 1e300, 2 / 3,
                    Double.random(in: 0...1, using: &random),
                ]
                return odd.randomElement(using: &random) ?? 0
            }
            var real = Double(Int.random(in: -most...most, using: &random))
            for _ in 0..<(scales.randomElement(using: &random) ?? 0) { real /= 10 }
            return real
        }
    }

    @Test(arguments: 0..<400 as Range<UInt64>) func `come back bit by bit`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let bits = Self.reals(&random).map(\.bitPattern)
        for effort in [SegmentEffort.standard, .smallest] {
            var areas = SegmentAreas()
            try ColumnEncoder(effort: effort, cost: TrialCost(effort: effort)).encode(reals: bits, into: &areas)
            var source = SegmentReader(control: areas.control, numbers: areas.numbers, text: areas.text)
            #expect(try ColumnDecoder(rowids: nil).reals(bits.count, from: &source) == bits, "seed \(seed)")
            #expect(source.isAtEnd)
        }
    }

    @Test func `the fewest places are those of all, and of most`() {
        func scales(_ reals: [Double]) -> (all: Int?, most: Int?) {
            let found = DecimalScales(of: reals.map(\.bitPattern))
            return (found.all, found.most)
        }
        let prices = (0..<200).map { Double($0 * 7) / 100 }
        #expect(scales(prices) == (2, nil))
        #expect(scales([1.5] + prices + [0.125]) == (3, 2))
        #expect(scales(prices + [1.0 / 3]) == (nil, 2))
        #expect(scales(prices + prices.map { 1 / ($0 + 3) }) == (nil, nil))
        #expect(scales([.nan, -0.0, .infinity]) == (nil, nil))
    }

    /// The first value of more places, wherever it is, must not cost a column its encoding.
    @Test func `a value of more places later costs itself`() throws {
        let effort = SegmentEffort.standard
        func size(_ reals: [Double]) throws -> Int {
            var areas = SegmentAreas()
            try ColumnEncoder(effort: effort, cost: TrialCost(effort: effort)).encode(
                reals: reals.map(\.bitPattern), into: &areas)
            return areas.control.count + areas.numbers.count
        }
        var random = RepeatableRandom(seed: 9)
        let prices = (0..<5000).map { _ in Double(Int.random(in: 0...9999, using: &random)) / 100 }
        var others = prices
        for place in [900, 2500, 4999] { others[place] = 1 / 3 }
        #expect(try size(others) < size(prices) + 3 * 12 + 40)
    }
}
