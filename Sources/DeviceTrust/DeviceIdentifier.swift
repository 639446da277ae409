import Crypto
import ShipProtocol

/// The id of a device: the SHA-256 of its certificate, as DER. Having the certificate's key makes a machine that device.
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
    /// Takes the same time wherever the two differ, so that the time of a refusal reveals no id of the list.
    public static func == (left: DeviceIdentifier, right: DeviceIdentifier) -> Bool {
        var difference: UInt8 = 0
        for (left, right) in zip(left.bytes, right.bytes) { difference |= left ^ right }
        return difference == 0
    }
}

extension DeviceIdentifier {
    /// The prefix of the text in a QR code, which says what the text is.
    private static let scheme = "SHIP-STORE:"
    /// Of the first group.
    private static let number: UInt8 = 0

    /// 13 groups, with dashes between them.
    public var text: String { KeyText.text(of: bytes, from: Self.number) }

    /// The text of a QR code of the id.
    public var pictureText: String { Self.scheme + text }

    /// Reads an id with or without dashes, spaces and `ship-store:`, in either case, with O for 0 and I or L for 1.
    ///
    /// - Throws: The place of the first error.
    public init(_ text: String) throws(DeviceIdentifierError) {
        let isPicture = text.uppercased().hasPrefix(Self.scheme)
        bytes = try KeyText.bytes(of: isPicture ? text.dropFirst(Self.scheme.count) : text[...], from: Self.number)
    }
}

extension DeviceIdentifier: CustomStringConvertible {
    public var description: String { text }
}

extension DeviceIdentifier: Codable {
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(orFlaw: "not a device's id") { try? DeviceIdentifier($0) }
    }

    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}
