import EssentialFoundation

/// A check that bytes are one JSON value, and nothing else, that every reader reads in the same way.
///
/// `JSONDecoder` is looser than the protocol: it takes other encodings than UTF-8 and trailing commas, ignores bad numbers in members
/// that the caller does not ask for, takes one of two members of the same name, and has a limit of its own for nesting.
/// Source: RFC 8259, `Protocol/README.md` section 4.
struct JSONSyntax {
    /// Deepest nesting of arrays and objects; the outermost is the first.
    private static let depthLimit = 32

    private let text: ArraySlice<UInt8>
    /// Of the message that the text is, for errors.
    private let type: FrameType
    private var index: Int
    private var depth = 0
    /// Names of the outermost object's members that are known; `nil` for all.
    private let known: Set<[UInt8]>?
    /// Where these members are.
    private var members: [Range<Int>] = []

    /// - Parameter names: Members of the outermost object to keep; `nil` for all.
    /// - Returns: The same object without other members: they are checked, and no memory is taken for what is in them.
    /// - Throws: `.badMessage`.
    static func checked(
        _ text: ArraySlice<UInt8>, as type: FrameType, keeping names: Set<String>?
    ) throws(ProtocolError) -> [UInt8] {
        var syntax = JSONSyntax(text, type, keeping: names)
        guard !text.starts(with: [0xEF, 0xBB, 0xBF]), String(validating: text, as: UTF8.self) != nil else {
            throw syntax.type.bad("not plain UTF-8")
        }
        try syntax.value()
        guard syntax.peek == nil else { throw syntax.type.bad("not JSON") }
        guard names != nil, syntax.isObject else { return Array(text) }
        return [UInt8(ascii: "{")] + syntax.members.map { text[$0] }.joined(separator: [UInt8(ascii: ",")])
            + [UInt8(ascii: "}")]
    }

    /// Whether the outermost value is an object.
    private var isObject = false

    private init(_ text: ArraySlice<UInt8>, _ type: FrameType, keeping names: Set<String>?) {
        (self.text, self.type) = (text, type)
        known = names.map { Set($0.map { Array($0.utf8) }) }
        index = text.startIndex
    }

    private var peek: UInt8? { index < text.endIndex ? text[index] : nil }

    private mutating func takes(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func take(_ character: Unicode.Scalar) throws(ProtocolError) {
        guard takes(character) else { throw type.bad("not JSON") }
    }

    private mutating func skipWhiteSpace() {
        while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    /// A value with the white space around it. It recurses no deeper than the limit.
    private mutating func value() throws(ProtocolError) {
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

    private mutating func object() throws(ProtocolError) {
        try enter("{")
        defer { depth -= 1 }
        if depth == 1 { isObject = true }
        if takes("}") { return }
        // Of the names, by a key of this process: an object may have hundreds of thousands.
        var hashes: Set<Int> = []
        repeat {
            skipWhiteSpace()
            let start = index
            try string()
            let name = Self.unescaped(text[start..<index])
            guard hashes.insert(name.hashValue).inserted else { throw type.bad("a member stands twice") }
            skipWhiteSpace()
            try take(":")
            try value()
            if depth == 1, known?.contains(name) == true { members.append(start..<index) }
        } while takes(",")
        try take("}")
    }

    private mutating func array() throws(ProtocolError) {
        try enter("[")
        defer { depth -= 1 }
        if takes("]") { return }
        repeat { try value() } while takes(",")
        try take("]")
    }

    private mutating func enter(_ bracket: Unicode.Scalar) throws(ProtocolError) {
        try take(bracket)
        depth += 1
        guard depth <= Self.depthLimit else { throw type.bad("nested deeper than \(Self.depthLimit)") }
        skipWhiteSpace()
    }

    private mutating func string() throws(ProtocolError) {
        try take("\"")
        while let byte = peek, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw type.bad("not JSON") }
            index += 1
            if byte == UInt8(ascii: "\\") { try escape() }
        }
        try take("\"")
    }

    /// The characters after a backslash.
    private mutating func escape() throws(ProtocolError) {
        guard let byte = peek else { throw type.bad("not JSON") }
        index += 1
        guard byte == UInt8(ascii: "u") else {
            if !"\"\\/bfnrt".utf8.contains(byte) { throw type.bad("not JSON") }
            return
        }
        switch try codeUnit() {
        case 0xD800...0xDBFF:
            guard takes("\\"), takes("u"), (0xDC00...0xDFFF).contains(try codeUnit()) else {
                throw type.bad("half of a character")
            }
        case 0xDC00...0xDFFF: throw type.bad("half of a character")
        default: break
        }
    }

    /// Four hexadecimal digits.
    private mutating func codeUnit() throws(ProtocolError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw type.bad("not JSON")
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    /// The bytes that a sound string between quotation marks encodes.
    private static func unescaped(_ string: ArraySlice<UInt8>) -> [UInt8] {
        guard string.contains(UInt8(ascii: "\\")) else { return Array(string.dropFirst().dropLast()) }
        return Array(((try? JSONDecoder().decode(String.self, from: Data(string))) ?? "").utf8)
    }

    private mutating func number() throws(ProtocolError) {
        _ = takes("-")
        if !takes("0") { try digits() }
        if takes(".") { try digits() }
        if takes("e") || takes("E") {
            if !takes("+") { _ = takes("-") }
            try digits()
        }
    }

    private mutating func digits() throws(ProtocolError) {
        let start = index
        while let byte = peek, byte.isDigit { index += 1 }
        guard index > start else { throw type.bad("not JSON") }
    }
}
