import ShipProtocol

extension Omissions {
    /// What was left out, as a list in words.
    ///
    /// - Parameter bytes: How a size is said.
    public func words(bytes: (Int64) -> String = { "\($0) bytes" }) -> PrintableText {
        var parts: [PrintableText] = []
        if history { parts.append("the history") }
        if !tables.isEmpty {
            parts.append("the rows of \(tables.map { PrintableText("\($0)") }.joined(separator: ", "))")
        }
        if !externalFiles.isEmpty {
            let size = externalFiles.reduce(0) { $0 + $1.size }
            let count = externalFiles.count
            parts.append("\(count) external file\(count == 1 ? "" : "s") (\(bytes(size)))")
        }
        return parts.joined(separator: "; ")
    }
}
