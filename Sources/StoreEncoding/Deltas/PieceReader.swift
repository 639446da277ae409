import ShipCompression

/// Reads the pieces of one result, in the order of its bytes.
///
/// Source: `Protocol/DELTA.md` section 7.
struct PieceReader {
    /// Bytes that are copied at once.
    private static let copiedAtOnce: Int64 = 65_536

    private let source: any ByteSource
    private let pageSize: Int
    /// Bytes of the result that have not come.
    private(set) var left: Int64
    /// Where the last copy ended.
    private var end: Int64 = 0

    /// - Parameters:
    ///   - pageSize: Of the source: what is read for the shortest copy, in bytes.
    ///   - size: Of the result, in bytes.
    init(copying source: any ByteSource, pageSize: Int, size: Int64) {
        self.source = source
        self.pageSize = pageSize
        left = size
    }

    /// Reads what follows the tag of an item of pieces.
    ///
    /// - Parameter take: Gets the bytes of the result.
    /// - Throws: `CompressionError.damaged`, and what the source and `take` throw.
    mutating func read(from segment: inout SegmentReader, _ take: (Span<UInt8>) throws -> Void) throws {
        for _ in 0..<(try segment.control.count(limit: SegmentLimits.events)) {
            try segment.work.spend(DecodingWork.step)
            let literal = try segment.control.count(limit: Int(clamping: min(left, Int64(segment.contentLeft))))
            let range = try segment.text.take(literal)
            segment.contentLeft -= literal
            left -= Int64(literal)
            segment.work.pay(bytes: literal)
            if literal > 0 { try take(segment.text.bytes.span.extracting(range)) }
            let length = try segment.control.varint()
            guard length > 0 else { continue }
            try segment.work.spend(DecodingWork.move(pageSize: pageSize))
            guard length <= UInt64(left), length <= SegmentLimits.copySize else {
                throw CompressionError.damaged(.segmentLimit)
            }
            let offset = end &+ (try segment.control.signed())
            guard offset >= 0, offset <= source.size, Int64(length) <= source.size - offset else {
                throw CompressionError.damaged(.rows)
            }
            end = offset + Int64(length)
            left -= Int64(length)
            var place = offset
            while place < end {
                var bytes: [UInt8] = []
                try source.append(place..<min(end, place + Self.copiedAtOnce), to: &bytes)
                try take(bytes.span)
                place += Int64(bytes.count)
                segment.work.pay(bytes: bytes.count)
            }
        }
    }
}
