/// The rules for the user's own pairs: at most 64; keys of `A-Z a-z 0-9 . _ -`, values of any text.
///
/// Source: `Protocol/README.md` section 4.7.
package enum Metadata {
    /// The first rule that the pairs break, in words for people, or `nil`.
    package static func firstFlaw(of pairs: [String: ForeignText]) -> String? {
        guard pairs.count <= Limits.metadataPairs else { return "more than \(Limits.metadataPairs) pairs of metadata" }
        for (key, value) in pairs {
            guard (1...Limits.metadataKeyLength).contains(key.utf8.count), key.utf8.allSatisfy(isAllowedInKey) else {
                return "a metadata key is 1 to \(Limits.metadataKeyLength) letters, digits, dots, dashes or underscores"
            }
            guard value.unescaped.utf8.count <= Limits.metadataValueLength else {
                return "the metadata value of \(key) is longer than \(Limits.metadataValueLength) bytes"
            }
        }
        return nil
    }

    private static func isAllowedInKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
