/// Brings a record that is too long for memory to its canonical encoding, in two passes: one finds the lengths, the other hands out the
/// bytes.
///
/// Source: `Protocol/CANONICAL.md` section 2.
package struct LongRecord: Sendable {
    private let integers: IntegerForm
    private var types: [UInt64] = []
    /// The types that the integers will have, in their order.
    private var narrowed: [UInt64] = []
    /// Bytes of the record in its canonical encoding.
    package private(set) var size = 0

    /// Finds the lengths.
    ///
    /// - Parameter cell: What `reader` gave last.
    /// - Throws: `.record`, and what `reader` throws.
    package init(of cell: TreeCell, in reader: TreeReader, _ integers: IntegerForm) throws {
        self.integers = integers
        var walk = RecordWalk()
        var narrowed: [UInt64] = []
        var size = 0
        try reader.forEachPiece(of: cell) { piece in
            let isSound = walk.feed(piece) { type, _, bytes in
                if SerialType.isInteger(type) {
                    let narrow = integers.serialType(of: CanonicalRecord.integer(type, in: bytes, at: 0))
                    narrowed.append(narrow)
                    size += SerialType.length(narrow) ?? 0
                } else {
                    size += bytes.count
                }
            }
            guard isSound else { throw StoreFlaw.record(page: cell.page) }
        }
        guard walk.isAtEnd else { throw StoreFlaw.record(page: cell.page) }
        types = walk.types
        self.narrowed = narrowed
        self.size = size + header.count
    }

    /// Header size and serial types.
    private var header: [UInt8] {
        var bytes: [UInt8] = []
        var integer = narrowed.makeIterator()
        for type in types {
            Varint.append(SerialType.isInteger(type) ? integer.next() ?? type : type, to: &bytes)
        }
        var whole: [UInt8] = []
        CanonicalRecord.append(header: bytes, [], to: &whole)
        return whole
    }

    /// Hands out the record in its canonical encoding, by the reader that gave `cell` last.
    package func write(_ cell: TreeCell, in reader: TreeReader, to output: (Span<UInt8>) throws -> Void) throws {
        try output(header.span)
        var walk = RecordWalk()
        try reader.forEachPiece(of: cell) { piece in
            _ = try walk.feed(piece) { type, _, bytes in
                guard SerialType.isInteger(type) else { return try output(bytes) }
                var (header, body): ([UInt8], [UInt8]) = ([], [])
                CanonicalRecord.append(
                    CanonicalRecord.integer(type, in: bytes, at: 0), integers, header: &header, body: &body)
                try output(body.span)
            }
        }
    }
}
