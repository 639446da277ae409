import ShipStore

/// What was left out of a copy on the user's word, for people.
struct OmissionWords {
    let lines: [String]

    /// - Parameter profile: What was asked for.
    init(_ manifest: Manifest, askedFor profile: CopyProfile = CopyProfile()) {
        var parts: [String] = []
        let omissions = manifest.omissions
        if omissions?.history == true { parts.append("the history") }
        if let tables = omissions?.tables, !tables.isEmpty {
            parts.append("the rows of \(tables.map(Printable.text).joined(separator: ", "))")
        }
        if let files = omissions?.externalFiles, !files.isEmpty {
            let size = files.reduce(0) { $0 + $1.size }
            parts.append("\(files.count) external file\(files.count == 1 ? "" : "s") (\(Figures.bytes(size)))")
        }
        var lines = parts.isEmpty ? [] : ["left out: \(parts.joined(separator: "; "))"]
        if profile.history == .leftOut, omissions?.history != true {
            lines.append("there is no history to leave out")
        }
        self.lines = lines
    }
}
