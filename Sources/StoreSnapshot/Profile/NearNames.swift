/// The names that a user may have meant.
enum NearNames {
    private static let most = 3

    /// - Returns: The nearest first, at most three; none that is so far off that it was hardly meant.
    static func of(_ wanted: String, among names: [String]) -> [String] {
        // At least 2, for the Z before the name of an entity, and a slip of the pen.
        let reach = max(2, wanted.count / 3)
        return names.map { (name: $0, distance: distance(wanted.lowercased(), $0.lowercased())) }
            .filter { $0.distance <= reach && $0.distance < max(wanted.count, 2) }
            .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(most).map(\.name)
    }

    /// Letters to insert, remove or replace.
    private static func distance(_ left: String, _ right: String) -> Int {
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
