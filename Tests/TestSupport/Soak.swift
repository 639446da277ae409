import Foundation

/// The long forms of tests, which `make soak` runs: otherwise a sample has to do.
package enum Soak {
    package static let isOn = ProcessInfo.processInfo.environment["SHIP_STORE_SOAK"] == "1"

    /// Every index, or in a short run every `step`th.
    package static func stride(_ range: Range<Int>, by step: Int) -> StrideTo<Int> {
        Swift.stride(from: range.lowerBound, to: range.upperBound, by: isOn ? 1 : step)
    }

    /// Every index, or in a short run one of so many, drawn by a seed.
    package static func sample(_ indexes: some Sequence<Int>, oneOf count: Int) -> [Int] {
        var random = RepeatableRandom(seed: 37)
        return indexes.filter { _ in isOn || Int.random(in: 0..<count, using: &random) == 0 }
    }
}
