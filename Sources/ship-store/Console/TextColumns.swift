import ShipStore

/// Rows of fields as lines of text: columns under their headings, as wide as what is in them.
struct TextColumns {
    /// On which side a column's fields stand.
    enum Heading: Hashable {
        case left(String)
        case right(String)

        fileprivate var text: String {
            switch self {
            case .left(let text), .right(let text): text
            }
        }
    }

    /// None for no rows; else the headings first. A column in which nothing stands is left out, but for one without heading.
    let lines: [PrintableText]

    init(_ rows: [[String]], under headings: [Heading]) {
        guard !rows.isEmpty else {
            lines = []
            return
        }
        let shown = headings.indices.filter { column in
            headings[column].text.isEmpty || rows.contains { !$0[column].isEmpty }
        }
        let all = [headings.map(\.text)] + rows
        let widths = shown.map { column in max(1, all.map { $0[column].count }.max() ?? 0) }
        lines = all.map { row in
            zip(shown, widths).map { column, width in
                let padding = String(repeating: " ", count: width - row[column].count)
                return if case .right = headings[column] { padding + row[column] } else { row[column] + padding }
            }.joined(separator: Self.gap).trimmingTrailingSpaces
        }.map { "\($0)" }
    }

    private static let gap = "  "
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
