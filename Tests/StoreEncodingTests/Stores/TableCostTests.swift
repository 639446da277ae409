import StoreEncoding
import Testing

/// Costs that are shared out to the last byte.
@Suite struct TableCostTests {
    @Test(
        arguments: [
            ([1, 1, 1], 10), ([0, 5, 0], 7), ([3], 0), ([1, 1_000_000_000_000], 3), ([7, 11, 13, 17, 19], 1), ([], 0),
            ([999_999_999_999, 1, 999_999_999_999], 123_456_789_012),
        ] as [([Int64], Int64)])
    func `shares add up to the total, and none is below 0`(weights: [Int64], total: Int64) {
        let shares = weights.shares(of: total)
        #expect(shares.reduce(0, +) == total)
        #expect(shares.count == weights.count && shares.allSatisfy { $0 >= 0 })
        for (weight, share) in zip(weights, shares) where weight == 0 { #expect(share == 0) }
    }

    @Test func `without any weight nothing is shared`() {
        #expect([0, 0].shares(of: 9) == [0, 0])
        #expect(TableCost(total: 9, weights: [.rowids: 0]).parts.isEmpty)
    }

    @Test func `the parts of a table add up, however it is scaled`() {
        let cost = TableCost(total: 1000, weights: [.rowids: 1, .value(0): 2, .value(1): 4, .longRows: 8, .indexes: 0])
        #expect(cost.parts == [.rowids: 67, .value(0): 133, .value(1): 267, .longRows: 533])
        for total in [0, 1, 7, 999, 12_345] as [Int64] {
            #expect(cost.scaled(to: total).total == total)
            #expect(cost.scaled(to: total).parts.values.reduce(0, +) == total)
        }
    }
}
