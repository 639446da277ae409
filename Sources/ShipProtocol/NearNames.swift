/// Names that a user who mistyped one may have meant.
package enum NearNames {
    /// Most names to propose.
    private static let most = 3

    /// The names that a user may have meant, the nearest first; none that is far off.
    package static func names(near wanted: String, among names: some Sequence<String>) -> [ForeignText] {
        // At least 2, for the Z before the name of an entity, and one typing error.
        let reach = max(2, wanted.count / 3)
        return names.map { (name: $0, distance: distance(wanted.lowercased(), $0.lowercased())) }
            .filter { $0.distance <= reach && $0.distance < max(wanted.count, 2) }
            // Of a short word half is another word, unless it begins alike.
            .filter { $0.distance * 2 < wanted.count || $0.name.lowercased().first == wanted.lowercased().first }
            .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(most).map { ForeignText($0.name) }
    }

    /// The question that a hint asks; `nil` if no name is near.
    package static func question(_ near: [ForeignText]) -> PrintableText? {
        near.isEmpty ? nil : "did you mean \(near.map { PrintableText("\($0)") }.joined(separator: " or "))?"
    }

    /// The Levenshtein distance: letters to insert, remove or replace. An extension that is too much counts as one, and so does an end that
    /// is missing.
    private static func distance(_ left: String, _ right: String) -> Int {
        if left.hasPrefix(right + ".") || left.count > 3 && right.hasPrefix(left) && left != right { return 1 }
        let right = Array(right)
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let above = row[column + 1]
                row[column + 1] = min(diagonal + (letter == right[column] ? 0 : 1), above + 1, row[column] + 1)
                diagonal = above
            }
        }
        return row[right.count]
    }
}
