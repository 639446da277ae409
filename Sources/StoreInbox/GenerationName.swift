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
            ContentDigest.bytes(4, ofHex: fields[1]) != nil
        else { return nil }
        self.number = number
        digestStart = String(fields[1])
        guard self.text == text else { return nil }
    }

    package var text: String { "\(number)-\(digestStart)" }
}
