import ShipLinks

/// Tells a side that sends from one that only keeps a link open: over a while of waiting for it, enough content must come.
///
/// Only time that is spent waiting counts, so that a reader that has work to do is not taken for a slow link; and frames that
/// say nothing do not count, however many they are.
struct LeastRate {
    private let bytesPerSecond: Int
    private let window: Duration
    private var waited = Duration.zero
    /// Of content, when the window began.
    private var bytesBefore: Int64

    /// - Parameters:
    ///   - size: Of the shipment, in bytes.
    ///   - content: Bytes of content that have come before.
    init(_ timeouts: Timeouts, for size: Int64, after content: Int64) {
        bytesPerSecond = timeouts.leastRate
        window = timeouts.rateWindow(for: size)
        bytesBefore = content
    }

    mutating func wait(_ time: Duration) { waited += time }

    /// - Parameter content: Bytes of content that have come in all.
    /// - Throws: `LinkError.tooSlow`.
    mutating func check(_ content: Int64) throws(LinkError) {
        guard waited >= window else { return }
        guard Double(content - bytesBefore) >= max(1, Double(bytesPerSecond) * (waited / .seconds(1))) else {
            throw .tooSlow(bytesPerSecond: bytesPerSecond)
        }
        (bytesBefore, waited) = (content, .zero)
    }
}
