/// A piece of the store, encoded by its rows: an alternative to the blocks of part 0.
///
///     0  1 byte  flags: bit 0 says that it is the last one, the others are 0
///     1  rest    one encoded segment, 1 to `Limits.segmentSize` bytes
///
/// Source: `Protocol/README.md` section 3.4. Vectors: `columns_*`.
package struct Columns: Hashable, Sendable {
    /// Length of what stands before the segment, in bytes.
    package static let headerSize = 1

    private static let lastFlag: UInt8 = 1

    /// Whether the store is complete with it.
    package let isLast: Bool
    package let segment: [UInt8]

    package init(segment: [UInt8], isLast: Bool) {
        self.segment = segment
        self.isLast = isLast
    }

    /// - Throws: `.badColumns` for a payload without a segment, and for flags that mean nothing.
    package init(decoding payload: ArraySlice<UInt8>) throws(ProtocolError) {
        guard let flags = payload.first, payload.count > Self.headerSize else { throw .badColumns(.truncated) }
        guard flags & ~Self.lastFlag == 0 else { throw .badColumns(.flags) }
        self.init(segment: Array(payload.dropFirst(Self.headerSize)), isLast: flags & Self.lastFlag != 0)
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(isLast ? Self.lastFlag : 0)
        bytes += segment
    }
}
