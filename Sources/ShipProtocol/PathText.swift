package import SystemPackage

/// Paths as text, without a loss: a path is bytes, which need not be UTF-8.
///
/// The text of a path is the path itself if that is UTF-8. For each byte B that is no part of a character stands the scalar
/// U+10FE00 + B, from U+10FE80 to U+10FEFF; and so for the four bytes of such a scalar that a path holds itself. Two paths never
/// have the same text, so it serves in records, in JSON and on its way from the command line. Source: `Protocol/OUTPUT.md`.
///
/// Nothing here is generic: what a generic function of another module needs is looked up when it runs, in each process anew.
package enum PathText {
    private static let base: UInt32 = 0x10FE00
    /// How each scalar begins that stands for a byte, and no other scalar that is assigned.
    private static let lead: UInt8 = 0xF4

    package static func text(of bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(lead) { return text }
        var (scalars, rest) = (String.UnicodeScalarView(), bytes[...])
        while let first = rest.first {
            let length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            let character = String(validating: rest.prefix(length), as: UTF8.self)?.unicodeScalars
            if let scalar = character?.first, character?.count == 1, byte(of: scalar) == nil {
                scalars.append(scalar)
                rest = rest.dropFirst(length)
            } else {
                if let scalar = Unicode.Scalar(base + UInt32(first)) { scalars.append(scalar) }
                rest = rest.dropFirst()
            }
        }
        return String(scalars)
    }

    package static func bytes(of text: String) -> [UInt8] {
        guard text.utf8.contains(lead) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in byte(of: scalar).map { [$0] } ?? Array(String(scalar).utf8) }
    }

    /// Whether all of it is text: no scalar stands for a byte.
    package static func isPlain(_ text: String) -> Bool {
        !text.utf8.contains(lead) || text.unicodeScalars.allSatisfy { byte(of: $0) == nil }
    }

    /// The byte that a scalar stands for.
    static func byte(of scalar: Unicode.Scalar) -> UInt8? {
        (base + 0x80...base + 0xFF).contains(scalar.value) ? UInt8(truncatingIfNeeded: scalar.value) : nil
    }
}

extension FilePath {
    /// As in `PathText`. `string` has U+FFFD instead, for every byte alike, and leads to another file.
    package var text: String { PathText.text(of: bytes) }

    package init(text: String) { self.init(bytes: PathText.bytes(of: text)) }

    /// Without the NUL at its end.
    package var bytes: [UInt8] {
        withPlatformString { start in
            var bytes: [UInt8] = []
            while start[bytes.count] != 0 { bytes.append(UInt8(bitPattern: start[bytes.count])) }
            return bytes
        }
    }

    /// - Parameter bytes: Up to the first NUL, if there is one.
    package init(bytes: [UInt8]) {
        self.init(platformString: bytes.prefix { $0 != 0 }.map { CInterop.PlatformChar(bitPattern: $0) } + [0])
    }

    /// - Parameter name: As in `PathText`.
    package func appending(text name: String) -> FilePath { pushing(FilePath(text: name)) }

    /// The name at its end; empty for a root and for nothing.
    package var lastName: String { lastComponent?.text ?? "" }

    /// The name at its end without its extension. `stem` has U+FFFD for bytes, as `string` has.
    package var stemText: String { lastComponent?.stemText ?? "" }
}

extension FilePath.Component {
    /// As in `PathText`.
    package var text: String { FilePath(root: nil, [self]).text }

    package var stemText: String {
        let scalars = text.unicodeScalars
        guard kind == .regular, let dot = scalars.lastIndex(of: "."), dot > scalars.startIndex else { return text }
        return String(scalars[..<dot])
    }
}
