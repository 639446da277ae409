/// How characters that a terminal acts upon, or that nobody sees, are written instead.
///
/// Those are the controls of ASCII and of ISO 8859 (C0, DEL, C1), line and paragraph separators, the controls of reading
/// direction, whatever takes no room (zero-width characters, variation selectors, tags), private and unassigned ones. A
/// backslash stays as it is, so that what was escaped once does not change.
public enum Escaping {
    /// `\n`, `\t` or `\u{1B}` for each of them.
    ///
    /// - Parameters:
    ///   - text: Any.
    ///   - limit: Most characters of the text; three dots stand for the rest.
    public static func text(_ text: String, atMost limit: Int = .max) -> String {
        // Nearly all text is plain.
        if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        var escaped = ""
        var left = limit
        for scalar in text.unicodeScalars {
            guard left > 0 else { return escaped + "..." }
            left -= 1
            switch scalar {
            case "\n": escaped += "\\n"
            case "\r": escaped += "\\r"
            case "\t": escaped += "\\t"
            case _ where isUnsafe(scalar): escaped += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// JSON as JSON writes such characters, `\u001b`: RFC 8259 section 7. Outside of strings it has none but white space.
    ///
    /// - Parameter json: A whole value without line feeds.
    public static func json(_ json: String) -> String {
        if json.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return json }
        var escaped = ""
        for scalar in json.unicodeScalars {
            guard isUnsafe(scalar) else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return escaped
    }

    static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        guard !(0x20...0x7E).contains(scalar.value) else { return false }
        let properties = scalar.properties
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
