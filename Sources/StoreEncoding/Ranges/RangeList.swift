import ShipCompression
import ShipProtocol

/// A later answer: of each part of the request the digests of its ranges, or the number of its rows.
enum RangeList {
    /// Most rows of a tree: so many fit into no file.
    static let mostRows = 1 << 46

    static func append(_ ranges: [RowRange], to bytes: inout [UInt8]) {
        bytes.appendVarint(UInt64(ranges.count))
        for range in ranges { bytes.append(bigEndian: range.digest) }
    }

    /// - Throws: `CompressionError.damaged`.
    static func digests(_ cursor: inout AreaCursor) throws(CompressionError) -> [UInt32] {
        let count = try cursor.count(limit: cursor.left / 4)
        var digests: [UInt32] = []
        digests.reserveCapacity(count)
        for _ in 0..<count { digests.append(try cursor.word()) }
        return digests
    }
}

extension AreaCursor {
    mutating func word() throws(CompressionError) -> UInt32 { UInt32(bigEndianBytes: bytes[try take(4)]) }
}
