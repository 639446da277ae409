import StoreFormat

/// A full-text table (FTS5), as its statement says.
///
/// Source: sqlite.org/fts5.html section 3 and 4. Whatever it does not understand makes another index, which is not derived then.
struct FullTextTable {
    /// Most bytes of a statement that is looked at.
    static let longestStatement = 65_536

    /// The names of its columns; `nil` for one without words.
    private let columns: [String?]
    /// By their names in lower case.
    private var options: [String: String] = [:]

    /// - Returns: `nil` for another kind of table, and for one whose index holds no positions, or words that this program does not make.
    init?(statement: String) {
        let words = statement.prefix(1024).lowercased().split(whereSeparator: \.isWhitespace)
        guard words.starts(with: ["create", "virtual", "table"]), let using = words.firstIndex(of: "using"),
            using + 1 < words.count, words[using + 1].starts(with: "fts5"),
            let arguments = StatementParts(statement)
        else { return nil }
        var columns: [String?] = []
        for argument in arguments.all {
            if argument.count > 1, argument[1] == "=" {
                options[argument[0].lowercased()] = argument.dropFirst(2).joined(separator: " ")
            } else if let name = argument.first {
                columns.append(argument.dropFirst().contains { $0.lowercased() == "unindexed" } ? nil : name)
            }
        }
        self.columns = columns
        let tokenizer = tokenizer.first ?? "unicode61"
        guard options["detail"] ?? "full" == "full", options["content"] != "",
            ["unicode61", "ascii"].contains(tokenizer)
        else { return nil }
    }

    /// The table that has its texts, if it has not its own.
    var content: String? { options["content"] }

    private var tokenizer: [String] { StatementParts.words(of: options["tokenize"] ?? "") }

    /// The lengths of prefixes that it has an index of.
    var prefixes: [Int] {
        (options["prefix"] ?? "").split { !$0.isNumber }.compactMap { Int($0) }
    }

    /// The places of its columns in the records of its content, a table that was made by this statement.
    func places(in statement: String?) -> [Int?] {
        guard content != nil else { return columns.enumerated().map { $1 == nil ? nil : $0 + 1 } }
        let names = statement.flatMap(StatementParts.init)?.all.map { $0.first?.lowercased() } ?? []
        return columns.map { column in column.flatMap { names.firstIndex(of: $0.lowercased()) } }
    }

    /// The folding of the characters above 127 that its texts have.
    func folds(of codes: Set<UInt32>) -> CharacterFolds {
        var folds = CharacterFolds()
        let words = tokenizer
        if words.first != "ascii" {
            let keepsMarks =
                words.firstIndex(of: "remove_diacritics").map { words.dropFirst($0 + 1).first == "0" } ?? false
            for code in codes.sorted().prefix(CharacterFolds.most - 256) {
                if let scalar = Unicode.Scalar(code) { folds.fold(scalar, keepsMarks: keepsMarks) }
            }
        }
        for (option, isPart) in [("tokenchars", true), ("separators", false)] {
            guard let place = words.firstIndex(of: option), place + 1 < words.count else { continue }
            for scalar in words[place + 1].unicodeScalars {
                if isPart { folds.replace(scalar.value, by: scalar.value) } else { folds.separate(at: scalar.value) }
            }
        }
        return folds
    }
}

extension CharacterFolds {
    /// As `unicode61` does: letters and numbers make words, in lower case, without what stands above or below a Latin letter.
    fileprivate mutating func fold(_ scalar: Unicode.Scalar, keepsMarks: Bool) {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            let lower = scalar.properties.lowercaseMapping.unicodeScalars
            let folded = lower.count == 1 ? lower.first ?? scalar : scalar
            let letter = keepsMarks ? folded : folded.withoutMark
            if letter != scalar { replace(scalar.value, by: letter.value) }
        case .nonspacingMark where !keepsMarks && (0x300...0x331).contains(scalar.value): leaveOut(scalar.value)
        default: separate(at: scalar.value)
        }
    }
}

extension Unicode.Scalar {
    /// The Latin letter that it is with one mark.
    fileprivate var withoutMark: Unicode.Scalar {
        guard (0xc0...0x24f).contains(value) || (0x1e00...0x1eff).contains(value) else { return self }
        for letter in UInt8(ascii: "a")...UInt8(ascii: "z") {
            let letter = Unicode.Scalar(letter)
            for mark: UInt32 in 0x300...0x331 {
                guard let mark = Unicode.Scalar(mark) else { continue }
                if String(String.UnicodeScalarView([letter, mark])) == String(self) { return letter }
            }
        }
        return self
    }
}
