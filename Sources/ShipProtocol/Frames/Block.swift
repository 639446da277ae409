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
