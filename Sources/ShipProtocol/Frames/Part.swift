/// The payload of PART: which part the DATA are of that follow, and how they stand for its bytes.
///
///     0  1 byte   encoding
///     1  1 byte   flags: bit 0 says that all that has come of the part is void, the others are 0
///     2  4 bytes  index of the part
///     6  8 bytes  position from which the data go on
///
/// Source: `Protocol/README.md` section 3.3. Vectors: `part_*`.
package struct PartOpening: Hashable, Sendable {
    package static let size = 14
    private static let anewFlag: UInt8 = 1

    /// Its number: it may be one that this version does not know.
    package let encoding: UInt8
    package let isAnew: Bool
    package let part: UInt32
    /// Bytes of the part's stream that are there already: see `StreamStart`.
    package let position: UInt64

    /// - Parameters:
    ///   - isAnew: Whether something of the part has come in another encoding.
    ///   - start: What came in an earlier session, where the data go on from there.
    package init(
        _ part: Int, as encoding: PartEncoding, isAnew: Bool = false, after start: StreamStart? = nil
    ) {
        self.encoding = encoding.rawValue
        self.isAnew = isAnew
        self.part = UInt32(clamping: part)
        position = UInt64(start?.position ?? 0)
    }

    /// - Throws: `.badPart` for another length, and for flags that mean nothing.
    package init(decoding payload: ArraySlice<UInt8>) throws(ProtocolError) {
        guard payload.count == Self.size else { throw .badPart(.length) }
        let start = payload.startIndex
        let flags = payload[start + 1]
        guard flags & ~Self.anewFlag == 0 else { throw .badPart(.flags) }
        encoding = payload[start]
        isAnew = flags & Self.anewFlag != 0
        part = UInt32(bigEndianBytes: payload[start + 2..<start + 6])
        position = UInt64(bigEndianBytes: payload[start + 6..<start + 14])
    }

    func append(to bytes: inout [UInt8]) {
        bytes += [encoding, isAnew ? Self.anewFlag : 0]
        bytes.append(bigEndian: part)
        bytes.append(bigEndian: position)
    }
}

/// The payload of DATA: the next bytes of the part that is open, as its encoding says.
///
///     0  1 byte   flags: bit 0 says that nothing more comes of the part, the others are 0
///     1  rest     at least one byte
///
/// Source: `Protocol/README.md` section 3.3. Vectors: `data_*`.
package struct PartData: Hashable, Sendable {
    /// Length of what stands before the data, in bytes.
    package static let headerSize = 1
    private static let lastFlag: UInt8 = 1

    package let isLast: Bool
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8], isLast: Bool) {
        self.bytes = bytes
        self.isLast = isLast
    }

    /// - Throws: `.badPart` without data, and for flags that mean nothing.
    package init(decoding payload: ArraySlice<UInt8>) throws(ProtocolError) {
        guard let flags = payload.first, payload.count > Self.headerSize else { throw .badPart(.length) }
        guard flags & ~Self.lastFlag == 0 else { throw .badPart(.flags) }
        self.init(Array(payload.dropFirst(Self.headerSize)), isLast: flags & Self.lastFlag != 0)
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(isLast ? Self.lastFlag : 0)
        bytes += self.bytes
    }
}

/// A way in which the bytes of a part go over the link.
///
/// Source: the registry of `Protocol/README.md` section 3.4.
public enum PartEncoding: UInt8, Hashable, Sendable, CaseIterable {
    /// The bytes as they are, in blocks.
    case blocks = 1
    /// The store by its rows, column by column; the consumer makes the pages, and the indexes that follow from the rows.
    case columns = 2
    /// The store by what changed of it since another one, which the consumer holds; an external file by what changed since one that
    /// the consumer holds with that store.
    case delta = 3

    /// How HELLO and ANSWER name it.
    package var name: ForeignText {
        switch self {
        case .blocks: "blocks"
        case .columns: "columns"
        case .delta: "delta"
        }
    }

    /// `nil` for a name that this version does not know.
    init?(named name: ForeignText) {
        guard let encoding = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = encoding
    }

    /// Whether every consumer takes it.
    package var isMandatory: Bool {
        switch self {
        case .blocks: true
        case .columns, .delta: false
        }
    }

    /// Whether it refers to another store.
    package var needsBase: Bool {
        switch self {
        case .blocks, .columns: false
        case .delta: true
        }
    }

    /// Whether a part may come in it.
    ///
    /// - Parameter index: 0 is the store.
    package func suits(part index: Int) -> Bool {
        switch self {
        case .blocks, .delta: true
        case .columns: index == 0
        }
    }
}
