extension ProtocolVector {
    private static let commonKeys = ["name", "about", "covers", "kind", "expect"]

    /// The vectors of a file: two empty lines stand between two of them.
    static func split(_ bytes: [UInt8]) -> [[UInt8]] {
        let end = UInt8(ascii: "\n")
        var vectors: [[UInt8]] = [[]]
        for line in bytes.split(separator: end, omittingEmptySubsequences: false).dropLast() {
            if line.isEmpty, vectors[vectors.count - 1].suffix(2) == [end, end] {
                vectors[vectors.count - 1].removeLast()
                vectors.append([])
            } else {
                vectors[vectors.count - 1] += line + [end]
            }
        }
        return vectors
    }

    /// - Parameter file: The name of its file, which is that of its kind.
    init(parsing bytes: [UInt8], ofFile file: String) throws(GrammarError) {
        guard let text = String(validating: bytes, as: UTF8.self), bytes.last == UInt8(ascii: "\n") else {
            throw GrammarError(vector: file, line: 0, flaw: "not UTF-8, or its last line does not end")
        }
        let name = String(text.prefix { $0 != "\n" })
        var lines = VectorLines(bytes, of: name)
        var fields: [Field] = []
        while let line = lines.next(), !line.isEmpty {
            fields.append(try lines.field(String(decoding: line, as: UTF8.self)))
        }
        var sections: [Section] = []
        repeat { sections.append(try lines.section()) } while !lines.isAtEnd

        guard fields.prefix(5).map(\.key) == Self.commonKeys, let kind = Kind(rawValue: fields[3].value),
            kind.rawValue + ".txt" == file
        else { throw GrammarError(vector: name, line: 0, flaw: "the common fields, or the kind") }
        let hasError: Bool
        switch fields[4].value {
        case "ok": hasError = false
        case "error": hasError = true
        default: throw GrammarError(vector: name, line: 5, flaw: "expect")
        }
        let more = fields.dropFirst(5)
        guard (more.first?.key == "error") == hasError else {
            throw GrammarError(vector: name, line: 6, flaw: "an error is stated if and only if one is expected")
        }
        self.init(
            name: fields[0].value, kind: kind, error: hasError ? more.first?.value : nil,
            fields: Array(hasError ? more.dropFirst() : more), sections: sections)
    }
}

/// The lines of a vector, one after the other.
private struct VectorLines {
    private let lines: [ArraySlice<UInt8>]
    private let name: String
    private var index = 0

    init(_ bytes: [UInt8], of name: String) {
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        self.name = name
    }

    var isAtEnd: Bool { index == lines.count }

    mutating func next() -> ArraySlice<UInt8>? {
        guard !isAtEnd else { return nil }
        defer { index += 1 }
        return lines[index]
    }

    private func flaw(_ flaw: String) -> ProtocolVector.GrammarError {
        ProtocolVector.GrammarError(vector: name, line: index, flaw: flaw)
    }

    /// `key: value`, or `key:`
    func field(_ line: String) throws(ProtocolVector.GrammarError) -> ProtocolVector.Field {
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
            !line[..<colon].contains(where: { $0 == " " || $0 == "#" })
        else { throw flaw("no field") }
        let rest = line[line.index(after: colon)...]
        guard rest.isEmpty || rest.hasPrefix(" ") else { throw flaw("no space after the colon") }
        return ProtocolVector.Field(key: String(line[..<colon]), value: String(rest.dropFirst()))
    }

    /// `bytes:` or `bytes label:`, then lines of bytes to an empty line or the end.
    mutating func section() throws(ProtocolVector.GrammarError) -> ProtocolVector.Section {
        guard let head = next().map({ String(decoding: $0, as: UTF8.self) }), head.hasPrefix("bytes"),
            head.hasSuffix(":")
        else { throw flaw("no section") }
        let label = head.dropFirst("bytes".count).dropLast()
        let words = label.dropFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard label.isEmpty || label.hasPrefix(" ") && words.allSatisfy(Self.isWord) else {
            throw flaw("the label of a section")
        }
        var bytes: [UInt8] = []
        while let line = next() {
            guard !line.isEmpty else {
                if isAtEnd { throw flaw("an empty line at the end") }
                break
            }
            bytes += try self.bytes(line)
        }
        return ProtocolVector.Section(label: String(label.dropFirst()), bytes: bytes)
    }

    private static func isWord(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    }

    /// `89 53 48 * 3  # note`
    private func bytes(_ line: ArraySlice<UInt8>) throws(ProtocolVector.GrammarError) -> [UInt8] {
        var rest = line
        var bytes: [UInt8] = []
        while let high = Self.value(ofDigit: rest.popFirst()), let low = Self.value(ofDigit: rest.popFirst()) {
            bytes.append(high << 4 | low)
            if rest.first != UInt8(ascii: " ") || Self.value(ofDigit: rest.dropFirst().first) == nil { break }
            rest.removeFirst()
        }
        guard !bytes.isEmpty else { throw flaw("no byte") }
        var more = Substring(decoding: rest, as: UTF8.self)
        var count = 1
        if more.hasPrefix(" * ") {
            let digits = more.dropFirst(3).prefix { $0 != " " }
            guard let number = Int(digits), number > 0 else { throw flaw("no count") }
            count = number
            more = more.dropFirst(3 + digits.count)
        }
        guard more.isEmpty || more.hasPrefix("  # ") else { throw flaw("neither a byte nor a count nor a note") }
        return Array(repeatElement(bytes, count: count).joined())
    }

    private static func value(ofDigit digit: UInt8?) -> UInt8? {
        switch digit {
        case .some(let digit) where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit): digit - UInt8(ascii: "0")
        case .some(let digit) where (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(digit):
            digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
