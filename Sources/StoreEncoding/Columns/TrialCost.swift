import ShipCompression

/// Measures what areas would take when they are deflated, and limits the work of all trials of a segment.
///
/// A class, because the many trials of a segment share its buffers and limits.
final class TrialCost {
    let care: SegmentEffort.Care
    /// With great care deflate itself measures the cost.
    private var isExact: Bool { care == .great }
    /// No more bytes than this count as they are: deflate saves little, and an estimate takes as long as one of some hundred bytes.
    private let tooFew: Int
    private let compressor: Deflate?
    private var output: [UInt8] = []
    /// The most bytes of output to keep, for the many trials of few bytes. The few trials of all of a segment need memory for other things.
    private static let keptOutput = 1 << 16
    private var estimate = DeflateEstimate()
    /// By how many bytes streams may still grow when they are inflated, over all trials of the segment. They share its text with all other
    /// strings: this is less than `SegmentLimits.textSize` leaves beside `contentSize`.
    var growth = mostGrowth
    private static let mostGrowth = 1_572_864
    /// How many bytes streams within other encodings may still stand for, over all trials: what `SegmentLimits.deflatedStrings` leaves
    /// beside the streams of rows, which are `contentSize` at most, and grow.
    var nestedContent = SegmentLimits.deflatedStrings - SegmentLimits.contentSize - mostGrowth
    /// Finds the values that are streams, or hold one. All trials of the segment share the bytes that it may inflate; once they are spent,
    /// values go as they are.
    let streams: StreamSearch
    /// Two seconds or so. Streams that go by their content stand for 8 MiB at most, and few trials inflate them: only values that hold
    /// what looks like streams and is none, or stands for a hundred times as much, come near it.
    static let mostInflated = 536_870_912
    /// What is left of `SegmentLimits.deflateWork`, over all trials.
    var deflateWork = SegmentLimits.deflateWork

    init(effort: SegmentEffort) throws(CompressionError) {
        care = effort.care
        tooFew = care == .great ? 16 : 48
        streams = StreamSearch(bytes: Self.mostInflated, pictures: effort.care.pictureLimit)
        compressor = care == .great ? try Deflate(raw: 6) : nil
    }

    /// - Returns: Bytes, of each area for itself; the control area is taken as it is.
    func of(_ areas: SegmentAreas) -> Int {
        areas.control.count + of(areas.numbers) + of(areas.text)
    }

    /// Measures samples: the head of a block counts in proportion, because the values in all have it once.
    func ofSample<Result>(_ sampled: Int, of count: Int, _ work: () -> Result) -> Result {
        let whole = estimate.codeCost
        estimate.codeCost = max(1, whole * sampled / max(1, count))
        defer { estimate.codeCost = whole }
        return work()
    }

    /// Estimates from an eighth of the bytes, in four runs from all over them.
    func estimated(_ bytes: [UInt8]) -> Int {
        let run = bytes.count / 32
        return 8
            * ofSample(run, of: bytes.count) {
                (0..<4).reduce(0) { sum, index in
                    let start = index * (bytes.count - run) / 3
                    return sum + of(bytes[start..<(start + run)])
                }
            }
    }

    func of(_ bytes: [UInt8]) -> Int { of(bytes[...]) }

    private func of(_ bytes: ArraySlice<UInt8>) -> Int {
        guard bytes.count > tooFew else { return bytes.count }
        return bytes.withUnsafeBufferPointer { bytes in
            guard isExact else { return estimate.size(of: bytes) }
            let size = withOutput(bytes.count) { output in
                compressor?.compress(bytes, into: UnsafeMutableBufferPointer(start: output, count: bytes.count)) ?? 0
            }
            return size == 0 ? bytes.count : size
        }
    }

    private func withOutput(_ size: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) -> Int {
        guard size <= Self.keptOutput else {
            let large = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
            defer { large.deallocate() }
            return body(large)
        }
        if output.isEmpty { output = [UInt8](repeating: 0, count: Self.keptOutput) }
        return output.withUnsafeMutableBufferPointer { output in output.baseAddress.map(body) ?? 0 }
    }
}
