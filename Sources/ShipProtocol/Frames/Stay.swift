/// The payload of STAY: the producer keeps the session open between two shipments, for as long as it hears the consumer.
///
///     0  4 bytes  how often a side says that it is still there, in seconds
///
/// Source: `Protocol/README.md` sections 5.7 and 6.5. Vectors: `stay_*`, `dialogue_stays_*`.
package struct Stay: Hashable, Sendable {
    package static let size = 4
    /// How often a side may want to hear the other, in seconds.
    package static let intervals = 1...3600

    /// In seconds.
    package let interval: Int

    /// - Parameter interval: Made to fit `intervals`.
    package init(every interval: Duration) {
        let (least, most) = (Self.intervals.lowerBound, Self.intervals.upperBound)
        self.interval = Int(min(max(interval, .seconds(least)), .seconds(most)) / .seconds(1))
    }

    /// - Throws: `.badMessage` for another length, and for an interval out of `intervals`.
    init(decoding payload: ArraySlice<UInt8>) throws(ProtocolError) {
        guard payload.count == Self.size else { throw FrameType.stay.bad("its length") }
        let interval = UInt32(bigEndianBytes: payload)
        guard Self.intervals.contains(Int(interval)) else { throw FrameType.stay.bad("an interval out of 1...3600") }
        self.interval = Int(interval)
    }

    func append(to bytes: inout [UInt8]) { bytes.append(bigEndian: UInt32(interval)) }

    /// The interval of the session: both sides say that they are there no more often than either wants to hear it.
    ///
    /// - Parameter wanted: What the other side has said, in seconds.
    package func agreed(with wanted: Int) -> Duration { .seconds(max(interval, wanted)) }
}
