/// What areas would take once deflated.
///
/// A class, because it owns what the many trials of a segment share.
final class TrialCost {
    let care: SegmentEffort.Care
    /// With great care deflate says it.
    private var isExact: Bool { care == .great }
    /// So few bytes are taken as they are: there is little to win, and an estimate takes as long as one of some hundred bytes.
    private let tooFew: Int
    private let compressor: DeflateCompressor?
    private var output: [UInt8] = []
    /// What is kept for it: there are many trials of few bytes, and few of a whole segment, beside which memory is short.
    private static let keptOutput = 1 << 16
    private var estimate = DeflateEstimate()
    /// By how many bytes strings that are streams may still grow when they are inflated, over all trials of the segment: they share its
    /// text with all others, and `SegmentLimits.textSize` leaves so much beside `contentSize`.
    var growth = mostGrowth
    private static let mostGrowth = 1_572_864
    /// How many bytes streams within other encodings may stand for, over all trials: those of rows are `contentSize` at most, and may
    /// grow, and `SegmentLimits.deflatedStrings` leaves so much beside them.
    var nestedContent = SegmentLimits.deflatedStrings - SegmentLimits.contentSize - mostGrowth
    /// What is left of `SegmentLimits.deflateWork`, over all trials.
    var deflateWork = SegmentLimits.deflateWork

    init(effort: SegmentEffort) throws(CompressionError) {
        care = effort.care
        tooFew = care == .great ? 16 : 48
        compressor = care == .great ? try DeflateCompressor(.raw, level: 6) : nil
    }

    /// - Returns: Bytes, of each area for itself; the control area is taken as it is.
    func of(_ areas: SegmentAreas) -> Int {
        areas.control.count + of(areas.numbers) + of(areas.text)
    }

    /// Costs of samples: what is said of the codes is said once, for all values.
    func ofSample<Result>(_ sampled: Int, of count: Int, _ work: () -> Result) -> Result {
        let whole = estimate.codeCost
        estimate.codeCost = max(1, whole * sampled / max(1, count))
        defer { estimate.codeCost = whole }
        return work()
    }

    /// From an eighth of the bytes, in four runs from all over them.
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
                compressor?.deflate(bytes, into: UnsafeMutableBufferPointer(start: output, count: bytes.count)) ?? 0
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
