import CDeflate

/// What areas would take once deflated.
///
/// A class, because it owns one compressor for the many trials of a segment.
final class TrialCost {
    private let compressor: OpaquePointer
    private var output: [UInt8]

    init(effort: SegmentEffort) throws(CompressionError) {
        guard let compressor = libdeflate_alloc_compressor(effort.care == .great ? 6 : 1) else { throw .outOfMemory }
        self.compressor = compressor
        output = [UInt8](repeating: 0, count: 1 << 12)
    }

    deinit { libdeflate_free_compressor(compressor) }

    /// - Returns: Bytes, by deflating each area for itself; the control area is taken as it is.
    func of(_ areas: SegmentAreas) -> Int {
        areas.control.count + of(areas.numbers) + of(areas.text)
    }

    func of(_ bytes: [UInt8]) -> Int {
        guard bytes.count > 16 else { return bytes.count }
        if output.count < bytes.count { output = [UInt8](repeating: 0, count: bytes.count) }
        let size = libdeflate_deflate_compress(compressor, bytes, bytes.count, &output, bytes.count)
        return size == 0 ? bytes.count : size
    }
}
