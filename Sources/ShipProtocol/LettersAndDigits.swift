/// Characters of ASCII. Of a character outside it no byte is one of them.
extension UInt8 {
    package var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    package var isLetterOrDigit: Bool { isDigit || (self | 0x20) &- UInt8(ascii: "a") < 26 }

    /// What names of stores, of buckets and of metadata consist of: a letter, a digit, `.`, `_` or `-`.
    package var isOfName: Bool { isLetterOrDigit || "._-".utf8.contains(self) }
}
