public import SystemPackage

/// Words for people, fit for a terminal and for one line of a log. Literals of the program's own source stay as they are, and
/// interpolation escapes each value that goes into them.
///
/// A `String` does not become one by itself, so that the compiler finds text from outside that would be printed unescaped.
public struct PrintableText: Hashable, Sendable {
    public private(set) var text: String

    private init(checked text: String) { self.text = text }

    public static func + (left: PrintableText, right: PrintableText) -> PrintableText {
        PrintableText(checked: left.text + right.text)
    }

    public static func += (left: inout PrintableText, right: PrintableText) { left.text += right.text }
}

extension PrintableText: CustomStringConvertible {
    public var description: String { text }
}

extension PrintableText: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self.init(checked: text) }

    public init(stringInterpolation: StringInterpolation) { self.init(checked: stringInterpolation.text) }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(2 * literalCapacity) }

        public mutating func appendLiteral(_ literal: String) { text += literal }

        public mutating func appendInterpolation(_ words: PrintableText) { text += words.text }

        /// Not for optionals: they have no words.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += ForeignText.escaped(value.description)
        }
    }
}

extension Sequence<PrintableText> {
    public func joined(separator: PrintableText = "") -> PrintableText {
        var isFirst = true
        return reduce(into: PrintableText("")) { text, next in
            if !isFirst { text += separator }
            text += next
            isFirst = false
        }
    }
}

extension PrintableText.StringInterpolation {
    /// A path with `\xFC` for each byte that is part of no character.
    public mutating func appendInterpolation(_ path: FilePath) {
        appendInterpolation(path.isEmpty ? "''" : path.text)
    }

    public mutating func appendInterpolation(_ name: FilePath.Component) { appendInterpolation(name.text) }
}
