/// Words for people, fit for a terminal and for one line of a log: what stands in the program's own source is as it is
/// there, and whatever is put into it is escaped.
///
/// A `String` does not become one by itself, so that the compiler finds what would be printed as somebody else wrote it.
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
            text += Escaping.text(value.description)
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
