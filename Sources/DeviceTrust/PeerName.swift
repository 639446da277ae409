import ShipProtocol

/// A name for a device: 1 to 64 bytes of UTF-8 without controls and characters that nobody sees, no space at either end, and no device's id.
public struct PeerName: Hashable, Sendable {
    public let text: String

    package static let longest = 64  // bytes

    /// - Returns: `nil` for a text that breaks one of the rules above.
    public init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count), text.first?.isWhitespace == false,
            text.last?.isWhitespace == false, !text.unicodeScalars.contains(where: ForeignText.isHidden),
            (try? DeviceIdentifier(text)) == nil
        else { return nil }
        self.text = text
    }

    /// The name of a device that has no other.
    package init(of id: DeviceIdentifier) { text = "device-" + id.text.prefix(while: { $0 != "-" }) }

    /// A name that this program makes up.
    package init(standing text: StaticString) { self.text = "\(text)" }

    /// The first of `text`, `text-2`, `text-3` and so on that is not in `taken`.
    package func avoiding(_ taken: Set<PeerName>) -> PeerName {
        var (name, number) = (self, 2)
        while taken.contains(name) {
            let end = "-\(number)"
            var stem = text
            while stem.utf8.count + end.utf8.count > Self.longest { stem.removeLast() }
            name = PeerName(unchecked: stem + end)
            number += 1
        }
        return name
    }

    private init(unchecked text: String) { self.text = text }
}

extension PeerName: CustomStringConvertible {
    public var description: String { text }
}

extension PeerName: Codable {
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(orFlaw: "not a device's name") { PeerName($0) }
    }

    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}
