/// A position in a record whose bytes come piece by piece.
struct RecordWalk {
    /// Longest header, in bytes: SQLite's own limit of 32,767 columns, 9 bytes each.
    private static let longestHeader = 32_767 * 9 + Varint.longest

    private(set) var types: [UInt64] = []
    private var header: [UInt8] = []
    private var headerSize: Int?
    /// The value that is being read, and how many of its bytes have come.
    private var index = 0
    private var done = 0
    /// The bytes so far of a number.
    private var integer: [UInt8] = []

    /// Whether the record has ended, without surplus bytes.
    var isAtEnd: Bool { headerSize != nil && index == types.count }

    /// Whether header size and serial types are shortest varints; valid once the header has come.
    var hasShortestHeader: Bool {
        let size = types.reduce(0) { $0 + Varint.length(of: $1) }
        return CanonicalRecord.headerSizeWithItself(size) == header.count
    }

    /// - Parameter onValue: Gets the type, the place and the bytes of a value: of texts and blobs piece by piece, of others at once.
    /// - Returns: Whether the record is sound so far.
    mutating func feed(
        _ piece: Span<UInt8>, onValue: (_ type: UInt64, _ place: Int, Span<UInt8>) throws -> Void
    ) rethrows -> Bool {
        var position = 0
        if headerSize == nil || header.count < headerSize ?? 0 {
            guard takeHeader(piece, &position) else { return false }
            guard let headerSize, header.count == headerSize else { return true }
            guard parseTypes() else { return false }
            try skipEmpty(onValue)
        }
        while position < piece.count {
            guard index < types.count, let length = SerialType.length(types[index]) else { return false }
            let take = min(length - done, piece.count - position)
            let bytes = piece.extracting(position..<(position + take))
            position += take
            done += take
            if types[index] < SerialType.firstOfVariableLength {
                bytes.withUnsafeBufferPointer { integer.append(contentsOf: $0) }
                if done == length { try onValue(types[index], index, integer.span) }
            } else {
                try onValue(types[index], index, bytes)
            }
            if done == length {
                index += 1
                done = 0
                integer.removeAll(keepingCapacity: true)
                try skipEmpty(onValue)
            }
        }
        return true
    }

    private mutating func takeHeader(_ piece: Span<UInt8>, _ position: inout Int) -> Bool {
        while position < piece.count {
            if let headerSize, header.count == headerSize { return true }
            header.append(piece[position])
            position += 1
            if headerSize == nil {
                var end = 0
                if let size = Varint.read(header.span, at: &end) {
                    guard size >= UInt64(end), size <= UInt64(Self.longestHeader) else { return false }
                    headerSize = Int(size)
                }
            }
        }
        return true
    }

    private mutating func parseTypes() -> Bool {
        var position = 0
        guard Varint.read(header.span, at: &position) != nil else { return false }
        while position < header.count {
            guard let type = Varint.read(header.span, at: &position), SerialType.length(type) != nil else {
                return false
            }
            types.append(type)
        }
        return true
    }

    private mutating func skipEmpty(_ onValue: (UInt64, Int, Span<UInt8>) throws -> Void) rethrows {
        while index < types.count, SerialType.length(types[index]) == 0 {
            try onValue(types[index], index, integer.span)
            index += 1
        }
    }
}

/// Checks whether a record whose bytes come piece by piece is canonical.
///
/// Source: `Protocol/CANONICAL.md` section 2.
package struct RecordCheck {
    private var walk = RecordWalk()
    private var hasNarrowIntegers = true

    package init() {}

    /// Takes the next bytes.
    ///
    /// - Returns: Whether the record is sound so far.
    package mutating func take(_ piece: Span<UInt8>, _ integers: IntegerForm) -> Bool {
        var isNarrow = hasNarrowIntegers
        let isSound = walk.feed(piece) { type, _, bytes in
            guard SerialType.isInteger(type) else { return }
            let value = CanonicalRecord.integer(type, in: bytes, at: 0)
            isNarrow = isNarrow && type == integers.serialType(of: value)
        }
        hasNarrowIntegers = isNarrow
        return isSound
    }

    /// Whether it is canonical and complete.
    package var isCanonical: Bool { walk.isAtEnd && hasNarrowIntegers && walk.hasShortestHeader }
}

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
    package init(
        of cell: TreeCell, in reader: TreeReader, _ integers: IntegerForm
    ) throws {
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
        Varint.append(UInt64(CanonicalRecord.headerSizeWithItself(bytes.count)), to: &whole)
        return whole + bytes
    }

    /// Hands out the record in its canonical encoding.
    ///
    /// - Parameter reader: One that gave `cell` last.
    package func write(
        _ cell: TreeCell, in reader: TreeReader, to output: (Span<UInt8>) throws -> Void
    ) throws {
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
