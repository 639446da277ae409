/// A piece of a part, encoded.
///
/// Source: `Protocol/README.md` section 3.3. Vectors: `block_*`.
package struct Block: Hashable, Sendable {
    /// Length of what stands before the encoded bytes, in bytes.
    package static let headerSize = 17

    /// Index of the part.
    package let part: UInt32
    /// Where the block begins in the decoded part, in bytes.
    package let offset: Int64
    /// 1 to `Limits.blockSize` bytes.
    package let decodedSize: Int
    package let encoding: BlockEncoding
    package let encoded: [UInt8]

    package init(part: UInt32, offset: Int64, decodedSize: Int, encoding: BlockEncoding, encoded: [UInt8]) {
        self.part = part
        self.offset = offset
        self.decodedSize = decodedSize
        self.encoding = encoding
        self.encoded = encoded
    }

    /// - Throws: `.badBlock` for sizes out of range, `.encodingNotSupported`.
    package init(decoding payload: ArraySlice<UInt8>) throws(ProtocolError) {
        guard payload.count > Self.headerSize else { throw .badBlock(.truncated) }
        let start = payload.startIndex
        let offset = UInt64(bigEndianBytes: payload[start + 4..<start + 12])
        let decodedSize = UInt32(bigEndianBytes: payload[start + 12..<start + 16])
        guard offset <= UInt64(Limits.partSize) else { throw .badBlock(.offset) }
        guard (1...UInt32(Limits.blockSize)).contains(decodedSize) else { throw .badBlock(.decodedSize) }
        guard let encoding = BlockEncoding(rawValue: payload[start + 16]) else {
            throw .encodingNotSupported(payload[start + 16])
        }
        self.init(
            part: UInt32(bigEndianBytes: payload[start..<start + 4]), offset: Int64(offset),
            decodedSize: Int(decodedSize), encoding: encoding, encoded: Array(payload[(start + Self.headerSize)...]))
        guard !(encoding == .zlibWindow && offset == 0) else { throw .badBlock(.windowAtStart) }
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: part)
        bytes.append(bigEndian: UInt64(offset))
        bytes.append(bigEndian: UInt32(decodedSize))
        bytes.append(encoding.rawValue)
        bytes += encoded
    }
}

/// How a block's bytes stand for the decoded ones: the registry of `Protocol/README.md` section 3.3.
package enum BlockEncoding: UInt8, Hashable, Sendable, CaseIterable {
    case stored = 0
    case zlib = 1
    case zlibWindow = 2

    /// How HELLO names it.
    package var name: String {
        switch self {
        case .stored: "stored"
        case .zlib: "zlib"
        case .zlibWindow: "zlib-window"
        }
    }
}
