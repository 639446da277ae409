/// Whether bytes are one JSON value, and nothing else.
///
/// `JSONDecoder` is looser than the protocol: it takes other encodings than UTF-8, lets trailing commas pass, does not look
/// at numbers of members that nobody asks for, and has a limit of its own for nesting.
/// Source: RFC 8259, `Protocol/README.md` section 4.
struct JSONSyntax {
    enum Flaw: Error, Hashable {
        case notPlainUTF8
        case notJSON
        case tooDeep
    }

    /// Deepest nesting of arrays and objects; the outermost is the first.
    static let depthLimit = 32

    private let text: ArraySlice<UInt8>
    private var index: Int
    private var depth = 0

    static func check(_ text: ArraySlice<UInt8>) throws(Flaw) {
        guard !text.starts(with: [0xEF, 0xBB, 0xBF]), String(validating: text, as: UTF8.self) != nil else {
            throw .notPlainUTF8
        }
        var syntax = JSONSyntax(text)
        try syntax.value()
        guard syntax.peek == nil else { throw .notJSON }
    }

    private init(_ text: ArraySlice<UInt8>) {
        self.text = text
        index = text.startIndex
    }

    private var peek: UInt8? { index < text.endIndex ? text[index] : nil }

    private mutating func takes(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func take(_ character: Unicode.Scalar) throws(Flaw) {
        guard takes(character) else { throw .notJSON }
    }

    private mutating func skipWhiteSpace() {
        while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    /// A value with the white space around it. It recurses no deeper than the limit.
    private mutating func value() throws(Flaw) {
        skipWhiteSpace()
        switch peek {
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): for character in "true".unicodeScalars { try take(character) }
        case UInt8(ascii: "f"): for character in "false".unicodeScalars { try take(character) }
        case UInt8(ascii: "n"): for character in "null".unicodeScalars { try take(character) }
        default: try number()
        }
        skipWhiteSpace()
    }

    private mutating func object() throws(Flaw) {
        try enter("{")
        defer { depth -= 1 }
        if takes("}") { return }
        repeat {
            skipWhiteSpace()
            try string()
            skipWhiteSpace()
            try take(":")
            try value()
        } while takes(",")
        try take("}")
    }

    private mutating func array() throws(Flaw) {
        try enter("[")
        defer { depth -= 1 }
        if takes("]") { return }
        repeat { try value() } while takes(",")
        try take("]")
    }

    private mutating func enter(_ bracket: Unicode.Scalar) throws(Flaw) {
        try take(bracket)
        depth += 1
        guard depth <= Self.depthLimit else { throw .tooDeep }
        skipWhiteSpace()
    }

    private mutating func string() throws(Flaw) {
        try take("\"")
        while let byte = peek, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw .notJSON }
            index += 1
            if byte == UInt8(ascii: "\\") { try escape() }
        }
        try take("\"")
    }

    /// What follows a backslash.
    private mutating func escape() throws(Flaw) {
        guard let byte = peek else { throw .notJSON }
        index += 1
        guard byte == UInt8(ascii: "u") else {
            if !"\"\\/bfnrt".utf8.contains(byte) { throw .notJSON }
            return
        }
        for _ in 0..<4 {
            guard let digit = peek, "0123456789abcdefABCDEF".utf8.contains(digit) else { throw .notJSON }
            index += 1
        }
    }

    private mutating func number() throws(Flaw) {
        _ = takes("-")
        if !takes("0") { try digits() }
        if takes(".") { try digits() }
        if takes("e") || takes("E") {
            if !takes("+") { _ = takes("-") }
            try digits()
        }
    }

    private mutating func digits() throws(Flaw) {
        let start = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw .notJSON }
    }
}
