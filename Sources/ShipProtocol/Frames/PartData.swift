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
