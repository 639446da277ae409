import StoreFormat

/// Bytes of the base that pieces of a result are copied from.
package protocol ByteSource {
    /// In bytes.
    var size: Int64 { get }
    /// - Parameter range: Within `0..<size`.
    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) throws
}

/// All bytes of a file of pages.
struct FileBytes: ByteSource {
    private let pages: any PageSource
    private let pageSize: Int

    init(_ pages: any PageSource, pageSize: Int) {
        self.pages = pages
        self.pageSize = pageSize
    }

    var size: Int64 { Int64(pages.pageCount) * Int64(pageSize) }

    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) throws {
        var page = [UInt8](repeating: 0, count: pageSize)
        var place = range.lowerBound
        while place < range.upperBound {
            try pages.read(UInt32(place / Int64(pageSize)) + 1, into: &page)
            let offset = Int(place % Int64(pageSize))
            let count = min(pageSize - offset, Int(range.upperBound - place))
            bytes += page[offset..<(offset + count)]
            place += Int64(count)
        }
    }
}

/// The record of one row.
struct RecordBytes: ByteSource {
    private let places: RecordPlaces

    init(_ places: RecordPlaces) { self.places = places }

    var size: Int64 { Int64(places.size) }

    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) throws {
        try places.append(Int(range.lowerBound)..<Int(range.upperBound), to: &bytes)
    }
}

/// Nothing to copy from.
struct NoBytes: ByteSource {
    let size: Int64 = 0

    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) throws {}
}

/// Bytes that are new, and then some that are copied.
struct PieceStep: Hashable {
    var literal: [UInt8]
    /// Where the copy begins in the source.
    var offset: Int64
    var length: Int64
}

/// Consecutive bytes of a result.
///
/// Source: `Protocol/DELTA.md` section 7.
enum BytePiece {
    /// Bytes that are handed on at once.
    private static let step: Int64 = 65_536

    /// - Parameter end: Where the last copy ended, at first 0.
    static func write(_ steps: [PieceStep], after end: inout Int64, into areas: inout SegmentAreas) {
        areas.count(steps.count)
        for step in steps {
            areas.count(step.literal.count)
            areas.text += step.literal
            areas.unsigned(UInt64(step.length))
            guard step.length > 0 else { continue }
            areas.signed(step.offset - end)
            end = step.offset + step.length
        }
    }

    /// Hands on the bytes of a piece.
    ///
    /// - Parameters:
    ///   - left: Bytes of the result that are to come; is counted down.
    ///   - end: Where the last copy ended.
    ///   - contentLeft: Most new bytes of the segment; is counted down.
    static func read(
        from source: inout SegmentSource, copying base: any ByteSource, left: inout Int64, after end: inout Int64,
        contentLeft: inout Int, _ take: (Span<UInt8>) throws -> Void
    ) throws {
        for _ in 0..<(try source.control.count(limit: DeltaLimits.events)) {
            let literal = try source.control.count(limit: Int(clamping: min(left, Int64(contentLeft))))
            let range = try source.text.take(literal)
            contentLeft -= literal
            left -= Int64(literal)
            if literal > 0 { try take(source.text.bytes.span.extracting(range)) }
            let length = try source.control.varint()
            guard length > 0 else { continue }
            guard length <= UInt64(left), length <= DeltaLimits.copySize else {
                throw CompressionError.damaged(.segmentLimit)
            }
            let offset = end &+ (try source.control.signed())
            guard offset >= 0, offset <= base.size, Int64(length) <= base.size - offset else {
                throw CompressionError.damaged(.rows)
            }
            end = offset + Int64(length)
            left -= Int64(length)
            var place = offset
            while place < end {
                var bytes: [UInt8] = []
                try base.append(place..<min(end, place + step), to: &bytes)
                try take(bytes.span)
                place += Int64(bytes.count)
            }
        }
    }
}
