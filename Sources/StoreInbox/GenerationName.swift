package import ShipProtocol

/// The name of a generation's folder: its number, and the first digits of its store's digest. `7-3fa9c1d2`
package struct GenerationName: Hashable, Sendable {
    package let number: Int
    package let digestStart: String

    package init(number: Int, digest: ContentDigest) {
        self.number = number
        digestStart = digest.short
    }

    /// - Returns: `nil` if the text is no such name.
    package init?(_ text: String) {
        let fields = text.split(separator: "-", omittingEmptySubsequences: false)
        guard fields.count == 2, let number = Int(fields[0]), (1...Limits.generation).contains(number),
            fields[1].utf8.count == 8, fields[1].utf8.allSatisfy(Self.isHexadecimal)
        else { return nil }
        self.number = number
        digestStart = String(fields[1])
        guard self.text == text else { return nil }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }

    package var text: String { "\(number)-\(digestStart)" }
}
