/// The payload of PART: it says to which part the DATA after it belong, and how they encode its bytes.
///
///     0  1 byte   encoding
///     1  1 byte   flags: bit 0 says that all data of the part so far are void; the others are 0
///     2  4 bytes  index of the part
///     6  8 bytes  position from which the data go on
///
/// Source: `Protocol/README.md` section 3.3. Vectors: `part_*`.
package struct PartOpening: Hashable, Sendable {
    package static let size = 14
    private static let anewFlag: UInt8 = 1

    /// The number of the encoding: this version may not know it.
    package let encoding: UInt8
    package let isAnew: Bool
    package let part: UInt32
    /// Bytes of the part's stream that the consumer has already: see `StreamStart`.
    package let position: UInt64

    /// - Parameters:
    ///   - isAnew: Whether data of the part went before, in another encoding.
    ///   - start: What went in an earlier session, if the data go on from there.
    package init(
        _ part: Int, as encoding: PartEncoding, isAnew: Bool = false, after start: StreamStart? = nil
    ) {
        self.encoding = encoding.rawValue
        self.isAnew = isAnew
        self.part = UInt32(clamping: part)
        position = UInt64(start?.position ?? 0)
    }

    /// - Throws: `.badPart` for another length, and for undefined flags.
    package init(decoding payload: ArraySlice<UInt8>) throws(ProtocolError) {
        guard payload.count == Self.size else { throw .badPart("its length") }
        let start = payload.startIndex
        let flags = payload[start + 1]
        guard flags & ~Self.anewFlag == 0 else { throw .badPart("its flags") }
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

/// The payload of DATA: the next bytes of the open part, in its encoding.
///
///     0  1 byte   flags: bit 0 says that the part ends here; the others are 0
///     1  rest     at least one byte
///
/// Source: `Protocol/README.md` section 3.3. Vectors: `data_*`.
package struct PartData: Hashable, Sendable {
    /// Bytes before the data.
    package static let headerSize = 1
    private static let lastFlag: UInt8 = 1

    package let isLast: Bool
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8], isLast: Bool) {
        self.bytes = bytes
        self.isLast = isLast
    }

    /// - Throws: `.badPart` without data, and for undefined flags.
    package init(decoding payload: ArraySlice<UInt8>) throws(ProtocolError) {
        guard let flags = payload.first, payload.count > Self.headerSize else { throw .badPart("its length") }
        guard flags & ~Self.lastFlag == 0 else { throw .badPart("its flags") }
        self.init(Array(payload.dropFirst(Self.headerSize)), isLast: flags & Self.lastFlag != 0)
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(isLast ? Self.lastFlag : 0)
        bytes += self.bytes
    }
}

/// How the bytes of a part go over the link.
///
/// Source: the registry of `Protocol/README.md` section 3.4.
public enum PartEncoding: UInt8, Hashable, Sendable, CaseIterable {
    /// The bytes in order, in blocks.
    case blocks = 1
    /// The rows of the store, column by column. The consumer makes the pages, and the indexes that follow from the rows.
    case columns = 2
    /// What changed of the store since another one, which the consumer holds; or of an external file since one that the consumer
    /// holds with that store.
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

    /// Whether every consumer supports it.
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

/// A piece of a part in the encoding `blocks`: the data of one DATA.
///
///     0  1 byte   form
///     1  4 bytes  decoded size
///     5  rest     the encoded bytes
///
/// Source: `Protocol/README.md` section 3.4. Vectors: `block_*`.
package struct Block: Hashable, Sendable {
    /// Bytes before the encoded bytes.
    package static let headerSize = 5

    /// 1 to `Limits.blockSize` bytes.
    package let decodedSize: Int
    package let form: Form
    package let encoded: [UInt8]

    /// How it is compressed.
    package enum Form: UInt8, Hashable, Sendable, CaseIterable {
        case stored = 0
        case zlib = 1
        /// A zlib stream whose preset dictionary is the part up to here.
        case zlibWindow = 2
    }

    package init(decodedSize: Int, form: Form, encoded: [UInt8]) {
        self.decodedSize = decodedSize
        self.form = form
        self.encoded = encoded
    }

    /// - Throws: `.badBlock` for sizes out of range, and for another form.
    package init(decoding bytes: [UInt8]) throws(ProtocolError) {
        guard bytes.count > Self.headerSize else { throw .badBlock("it has no content") }
        guard bytes.count <= Self.headerSize + Limits.blockSize + Limits.blockOverhead else {
            throw .badBlock("its length")
        }
        guard let form = Form(rawValue: bytes[0]) else { throw .badBlock("its form") }
        let decodedSize = UInt32(bigEndianBytes: bytes[1..<5])
        guard (1...UInt32(Limits.blockSize)).contains(decodedSize) else { throw .badBlock("its decoded size") }
        self.init(decodedSize: Int(decodedSize), form: form, encoded: Array(bytes[Self.headerSize...]))
    }

    /// The data of its DATA.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = [form.rawValue]
        bytes.reserveCapacity(Self.headerSize + encoded.count)
        bytes.append(bigEndian: UInt32(decodedSize))
        bytes += encoded
        return bytes
    }
}
