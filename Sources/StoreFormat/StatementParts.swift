/// The parts of the parentheses of a statement, between commas, each in words without their quotes.
package struct StatementParts {
    package private(set) var all: [[String]] = []

    package init?(_ statement: String) {
        guard let open = statement.firstIndex(of: "(") else { return nil }
        var part = ""
        var (depth, quote): (Int, Character?) = (0, nil)
        for character in statement[statement.index(after: open)...] {
            if let end = quote {
                if character == end { quote = nil }
            } else if character == ")", depth == 0 {
                all.append(Self.words(of: part))
                return
            } else if character == ",", depth == 0 {
                all.append(Self.words(of: part))
                part = ""
                continue
            } else {
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
                quote = Self.quotes[character]
            }
            part.append(character)
        }
        return nil
    }

    private static let quotes: [Character: Character] = ["'": "'", "\"": "\"", "`": "`", "[": "]"]

    /// Words, quoted ones as what they stand for, and each `=` by itself.
    package static func words(of text: String) -> [String] {
        var words: [String] = []
        var rest = text[...]
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if first == "=" {
                words.append("=")
                rest.removeFirst()
            } else if let quote = quotes[first] {
                rest.removeFirst()
                var word = ""
                while let next = rest.popFirst() {
                    if next == quote {
                        guard rest.first == quote else { break }
                        rest.removeFirst()
                    }
                    word.append(next)
                }
                words.append(word)
            } else {
                let word = rest.prefix { !$0.isWhitespace && $0 != "=" && quotes[$0] == nil }
                words.append(String(word))
                rest = rest.dropFirst(word.count)
            }
        }
        return words
    }
}
