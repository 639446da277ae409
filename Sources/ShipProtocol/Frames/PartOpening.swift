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
    package init(_ part: Int, as encoding: PartEncoding, isAnew: Bool = false, after start: StreamStart? = nil) {
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
