import ShipProtocol
import SystemPackage

extension PrintableText.StringInterpolation {
    /// A path in a command that the user may type: as a POSIX shell takes it, or with `$'…'` where it has bytes that show as nothing.
    mutating func appendInterpolation(inShell path: FilePath) {
        let bytes = path.bytes
        let shown: PrintableText = "\(path)"
        if shown.text != path.string {
            appendLiteral("$'")
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "'"), UInt8(ascii: "\\"): appendLiteral("\\" + String(UnicodeScalar(byte)))
                case 0x20..<0x7f: appendLiteral(String(UnicodeScalar(byte)))
                default: appendLiteral("\\x" + String(byte / 16, radix: 16) + String(byte % 16, radix: 16))
                }
            }
            appendLiteral("'")
        } else if bytes.allSatisfy(\.needsNoQuotes) {
            appendInterpolation(path)
        } else {
            appendLiteral("'")
            for (index, part) in path.string.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
                if index > 0 { appendLiteral("'\\''") }
                appendLiteral(String(part))
            }
            appendLiteral("'")
        }
    }
}

extension UInt8 {
    /// Whether a shell takes it as it is, wherever it stands in a word. Bytes of other characters than ASCII's are.
    fileprivate var needsNoQuotes: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: "/._-+=:,@%".utf8.contains(self)
        }
    }
}
