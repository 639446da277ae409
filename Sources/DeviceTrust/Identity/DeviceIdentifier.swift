import Crypto

/// Who a device is: the SHA-256 of its certificate, as DER. Whoever has the certificate's key is that device.
public struct DeviceIdentifier: Sendable {
    /// In bytes.
    package static let size = 32

    package let bytes: [UInt8]

    /// The device whose certificate this is.
    package init(ofCertificate der: [UInt8]) { bytes = Array(SHA256.hash(data: der)) }

    /// - Returns: `nil` unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }
}

extension DeviceIdentifier: Hashable {
    /// Takes the same time wherever the two differ: a stranger cannot learn an id of the list from how soon it is refused.
    public static func == (left: DeviceIdentifier, right: DeviceIdentifier) -> Bool {
        var difference: UInt8 = 0
        for (left, right) in zip(left.bytes, right.bytes) { difference |= left ^ right }
        return difference == 0
    }
}
