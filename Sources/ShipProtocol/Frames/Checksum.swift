import CZlib

/// The CRC-32 that ends each frame: the one of zlib, PNG and gzip (polynomial 0xEDB88320, reflected).
///
/// Source: `Protocol/README.md` section 3.2.
package struct Checksum: Hashable, Sendable {
    package private(set) var value: UInt32 = 0

    package init() {}

    /// The checksum of a whole.
    package static func crc32(of bytes: some Sequence<UInt8>) -> UInt32 {
        var checksum = Checksum()
        checksum.update(bytes)
        return checksum.value
    }

    /// Takes in more bytes, in order.
    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let updated = bytes.withContiguousStorageIfAvailable { Self.continued(value, $0) }
        value = updated ?? Array(bytes).withUnsafeBufferPointer { Self.continued(value, $0) }
    }

    private static func continued(_ value: UInt32, _ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32_z(UInt(value), bytes.baseAddress, bytes.count))
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// The number that the bytes spell, most significant first. Surplus leading bytes would be lost: give as many as fit.
    package init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self($1) }
    }
}

extension [UInt8] {
    package mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

/// A frame that says nothing, and makes what is written with it as long as other things that could have been: who sees sizes on the
/// line then learns less from them.
///
/// Source: `Protocol/README.md` section 3.7.
package enum Padding {
    /// All that is written at once has a multiple of so many bytes.
    package static let step = 4096
    /// It may be passed over, and is.
    static let type: UInt8 = 0x82
    private static let smallest = FrameHeader.size + 4

    /// - Parameter count: Bytes that are to be written.
    /// - Returns: What is to go before them: after the last END nothing may follow.
    package static func frame(before count: Int) -> [UInt8] {
        var size = (step - count % step) % step
        if size == 0 { return [] }
        if size < smallest { size += step }
        var bytes = [type]
        bytes.append(bigEndian: UInt32(size - smallest))
        bytes += [UInt8](repeating: 0, count: size - smallest)
        bytes.append(bigEndian: Checksum.crc32(of: bytes))
        return bytes
    }
}
