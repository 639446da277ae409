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
