import Foundation

/// Whether there is time for everything: `make soak`. Otherwise a sample has to do.
enum Soak {
    static let isOn = ProcessInfo.processInfo.environment["SHIP_STORE_SOAK"] == "1"

    /// Every index, or in a short run every `step`th.
    static func stride(_ range: Range<Int>, by step: Int) -> StrideTo<Int> {
        Swift.stride(from: range.lowerBound, to: range.upperBound, by: isOn ? 1 : step)
    }
}
