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
