import ShipStore

/// The subject of a line.
struct LogSubject {
    /// As `Protocol/OUTPUT.md` names it.
    let event: String
    /// Of a command with several sessions, the number of this one.
    var session: Int?
    var peer: String?
    var store: StoreName?
    /// Whether the time matters: not where it is about who listens, and who pairs.
    var isTimed = true

    /// When, and in which session with whom, so that lines of sessions side by side can be told apart.
    var stamp: PrintableText {
        guard isTimed else { return "" }
        return "\(JSONObject.now) " + (session.map { "[\($0)\(peer.map { " " + $0 } ?? "")] " } ?? "")
    }
}
