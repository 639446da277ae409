import ShipTransport

/// Tells a side that sends from one that only keeps a link open: over a while of waiting for it, enough must come.
///
/// Only time that is spent waiting counts, so that a reader that has work to do is not taken for a slow link.
struct LeastRate {
    let bytesPerSecond: Int
    let window: Duration
    private var waited = Duration.zero
    private var bytes = 0

    init(_ timeouts: Timeouts) {
        bytesPerSecond = timeouts.leastRate
        window = timeouts.rateWindow
    }

    /// - Parameters:
    ///   - bytes: That have come now.
    ///   - waited: How long they were waited for.
    /// - Throws: `LinkError.tooSlow`.
    mutating func count(_ bytes: Int, waited: Duration) throws(LinkError) {
        self.bytes += bytes
        self.waited += waited
        guard self.waited >= window else { return }
        guard Double(self.bytes) >= Double(bytesPerSecond) * (self.waited / .seconds(1)) else {
            throw .tooSlow(bytesPerSecond: bytesPerSecond)
        }
        (self.bytes, self.waited) = (0, .zero)
    }
}
