import ShipCompression

/// Measures what areas would take when they are deflated, and limits the work of all trials of a segment.
///
/// A class, because the many trials of a segment share its buffers and limits.
final class TrialCost {
    let thoroughness: SegmentEffort.Thoroughness
    /// With great thoroughness deflate itself measures the cost.
    private var isExact: Bool { thoroughness == .great }
    private static let deflateLevel: Int32 = 6
    /// No more bytes than this count as they are: deflate saves little, and an estimate takes as long as one of some hundred bytes.
    private let tooFew: Int
    private var compressor: Deflate?
    private var output: [UInt8] = []
    /// The most bytes of output to keep, for the many trials of few bytes. The few trials of all of a segment need memory for other things.
    private static let keptOutput = 1 << 16
    private var estimate: DeflateEstimate
    /// The room that streams may still take of the segment, besides the one that its areas have taken (`SegmentAreas.streams`).
    var room: StreamRoom
    /// Finds the values that are streams, or hold one. All trials of the segment share the bytes that it may inflate; once they are spent,
    /// values go as they are.
    let streams: StreamSearch
    /// The rows and chunks of the segment, as they are in the store; none where nobody looks for what stands in several of them.
    var contents: [[UInt8]]
    /// Two seconds or so. Streams that go by their content stand for 8 MiB at most, and few trials inflate them: only values that hold
    /// what looks like streams and is none, or stands for a hundred times as much, come near it.
    static let mostInflated = 536_870_912

    /// - Parameter contentSize: Bytes of rows and chunks that the segment will hold, at most.
    init(
        effort: SegmentEffort, contentSize: Int = SegmentLimits.contentSize, contents: [[UInt8]] = []
    ) throws(CompressionError) {
        self.contents = contents
        room = StreamRoom(besides: contentSize)
        thoroughness = effort.thoroughness
        estimate = DeflateEstimate(leastStep: effort.sampleCount)
        tooFew = thoroughness == .great ? 16 : 48
        streams = StreamSearch(bytes: Self.mostInflated, pictures: effort.thoroughness.pictureLimit)
        compressor = thoroughness == .great ? try Deflate(raw: Self.deflateLevel) : nil
    }

    /// Does something that is not to stay: what streams take of the segment meanwhile is given back. Whoever keeps the areas then calls
    /// `keep`.
    func onTrial<Result>(_ work: () -> Result) -> Result {
        let before = room
        defer { room = before }
        return work()
    }

    /// Takes for good what the streams of a trial took.
    func keep(_ trial: SegmentAreas) { room -= trial.streams }

    /// - Returns: Bytes, of each area for itself; the control area is taken as it is.
    func of(_ areas: SegmentAreas) -> Int {
        let cost = areas.control.count + of(areas.numbers) + of(areas.text) - areas.wordGain
        let (streams, size) = (areas.streams, areas.control.count + areas.numbers.count + areas.text.count)
        guard streams.content > 0 else { return cost }
        // What the contents of two rows share, the other one more than a sample away, shows in no sample; streams share nothing. And
        // contents take no more than the streams that are there, whatever an estimate of few says.
        let contents = cost * min(streams.content, size) / size
        return cost - contents + min(contents, streams.content - streams.growth) * 9 / 10
    }

    /// Bytes that deflate makes of the areas, which sees what comes again in them; `nil` where it cannot be had.
    func deflated(_ areas: SegmentAreas) -> Int? {
        if compressor == nil { compressor = try? Deflate(raw: Self.deflateLevel) }
        guard compressor != nil else { return nil }
        return areas.control.count - areas.wordGain
            + [areas.numbers, areas.text].reduce(0) { sum, bytes in
                sum + bytes.withUnsafeBufferPointer { exact($0) }
            }
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
            isExact ? exact(bytes) : estimate.size(of: bytes)
        }
    }

    private func exact(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let size = withOutput(bytes.count) { output in
            compressor?.compress(bytes, into: UnsafeMutableBufferPointer(start: output, count: bytes.count)) ?? 0
        }
        return size == 0 ? bytes.count : size
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
