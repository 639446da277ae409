extension VectorFile {
    private static let commonKeys = ["name", "about", "covers", "kind", "expect"]

    /// - Parameter file: The file's name, which the vector has to repeat.
    init(parsing bytes: [UInt8], file: String) throws(GrammarError) {
        guard String(validating: bytes, as: UTF8.self) != nil, bytes.last == UInt8(ascii: "\n") else {
            throw GrammarError(file: file, line: 0, flaw: "not UTF-8, or its last line does not end")
        }
        var lines = VectorLines(bytes, file: file)
        var fields: [Field] = []
        while let line = lines.next(), !line.isEmpty {
            fields.append(try lines.field(String(decoding: line, as: UTF8.self)))
        }
        var sections: [Section] = []
        repeat { sections.append(try lines.section()) } while !lines.isAtEnd

        guard fields.prefix(5).map(\.key) == Self.commonKeys, let kind = Kind(rawValue: fields[3].value),
            fields[0].value + ".txt" == file
        else { throw GrammarError(file: file, line: 0, flaw: "the common fields, the name or the kind") }
        let hasError: Bool
        switch fields[4].value {
        case "ok": hasError = false
        case "error": hasError = true
        default: throw GrammarError(file: file, line: 5, flaw: "expect")
        }
        let more = fields.dropFirst(5)
        guard (more.first?.key == "error") == hasError else {
            throw GrammarError(file: file, line: 6, flaw: "an error is stated if and only if one is expected")
        }
        self.init(
            name: fields[0].value, kind: kind, error: hasError ? more.first?.value : nil,
            fields: Array(hasError ? more.dropFirst() : more), sections: sections)
    }
}

/// The lines of a vector, one after the other.
private struct VectorLines {
    private let lines: [ArraySlice<UInt8>]
    private let file: String
    private var index = 0

    init(_ bytes: [UInt8], file: String) {
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        self.file = file
    }

    var isAtEnd: Bool { index == lines.count }

    mutating func next() -> ArraySlice<UInt8>? {
        guard !isAtEnd else { return nil }
        defer { index += 1 }
        return lines[index]
    }

    private func flaw(_ flaw: String) -> VectorFile.GrammarError {
        VectorFile.GrammarError(file: file, line: index, flaw: flaw)
    }

    /// `key: value`, or `key:`
    func field(_ line: String) throws(VectorFile.GrammarError) -> VectorFile.Field {
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
            !line[..<colon].contains(where: { $0 == " " || $0 == "#" })
        else { throw flaw("no field") }
        let rest = line[line.index(after: colon)...]
        guard rest.isEmpty || rest.hasPrefix(" ") else { throw flaw("no space after the colon") }
        return VectorFile.Field(key: String(line[..<colon]), value: String(rest.dropFirst()))
    }

    /// `bytes:` or `bytes label:`, then lines of bytes to an empty line or the end.
    mutating func section() throws(VectorFile.GrammarError) -> VectorFile.Section {
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
        return VectorFile.Section(label: String(label.dropFirst()), bytes: bytes)
    }

    private static func isWord(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    }

    /// `89 53 48 * 3  # note`
    private func bytes(_ line: ArraySlice<UInt8>) throws(VectorFile.GrammarError) -> [UInt8] {
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
