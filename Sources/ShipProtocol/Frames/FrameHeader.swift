import CZlib

/// The 5 bytes before each payload: type and payload length.
///
/// Source: `Protocol/README.md` section 3.2. Vectors: `header_*`.
package struct FrameHeader: Hashable, Sendable {
    /// In bytes.
    package static let size = 5

    /// `nil` for an optional type that this version does not know.
    package let type: FrameType?
    /// In bytes, without header and checksum; within the limit of the type.
    package let payloadLength: Int

    /// - Parameter bytes: At least `size` of them; the rest is ignored.
    /// - Throws: `.truncated`, `.unknownFrame` for an unknown type below 0x80, `.payloadTooLong`.
    package init(decoding bytes: some Collection<UInt8>) throws(ProtocolError) {
        guard let rawType = bytes.first, bytes.count >= Self.size else { throw .truncated }
        type = FrameType(rawValue: rawType)
        let length = UInt32(bigEndianBytes: bytes.dropFirst().prefix(4))
        guard type != nil || rawType >= 0x80 else { throw .unknownFrame(rawType) }
        let limit = type?.payloadLimit ?? Limits.optionalFrameSize
        guard length <= limit else { throw .payloadTooLong(type: rawType, length: length, limit: limit) }
        payloadLength = Int(length)
    }
}

extension UInt32 {
    /// The CRC-32 that ends each frame: the one of zlib, PNG and gzip (polynomial 0xEDB88320, reflected).
    ///
    /// Source: `Protocol/README.md` section 3.2.
    package init(crc32Of bytes: some Sequence<UInt8>) {
        let checksum = bytes.withContiguousStorageIfAvailable(Self.crc32)
        self = checksum ?? Array(bytes).withUnsafeBufferPointer(Self.crc32)
    }

    private static func crc32(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32_z(0, bytes.baseAddress, bytes.count))
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// - Parameter bytes: Most significant first; no more than the type has, as surplus leading bytes would be lost.
    package init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self($1) }
    }
}

extension [UInt8] {
    package mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

extension Frame {
    /// Whatever is written at once has a multiple of this many bytes.
    package static let paddingStep = 4096
    /// An optional type that every receiver passes over.
    private static let paddingType: UInt8 = 0x82
    private static let shortestPadding = FrameHeader.size + 4

    /// A frame without content. It makes a message as long as other messages, so that an observer of the line learns less from sizes.
    ///
    /// Source: `Protocol/README.md` section 3.7.
    ///
    /// - Parameter count: Bytes of the message.
    /// - Returns: What goes before the message: after the last END nothing may follow.
    package static func padding(before count: Int) -> [UInt8] {
        var size = (paddingStep - count % paddingStep) % paddingStep
        if size == 0 { return [] }
        if size < shortestPadding { size += paddingStep }
        var bytes = [paddingType]
        bytes.append(bigEndian: UInt32(size - shortestPadding))
        bytes += [UInt8](repeating: 0, count: size - shortestPadding)
        bytes.append(bigEndian: UInt32(crc32Of: bytes))
        return bytes
    }
}
