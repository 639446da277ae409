import ShipStore

/// What was left out of a copy on the user's word, for people.
struct OmissionWords {
    let lines: [PrintableText]

    /// - Parameter profile: What was asked for.
    init(_ manifest: Manifest, askedFor profile: CopyProfile = CopyProfile()) {
        let omissions = manifest.omissions
        var lines: [PrintableText] = omissions.map { ["left out: \($0.words(bytes: Figures.bytes))"] } ?? []
        if profile.history == .leftOut, omissions?.history != true {
            lines.append("there is no history to leave out")
        }
        self.lines = lines
    }
}
