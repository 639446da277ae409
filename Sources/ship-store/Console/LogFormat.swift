import ShipStore

/// How the lines on standard error look.
enum LogFormat: Hashable {
    /// For people; stamped where the command goes on for long: see `LogSubject.stamp`.
    case text(stamped: Bool)
    /// For programs: an object a line, as `Protocol/OUTPUT.md` says.
    case json
}

/// How much a line matters.
enum LogLevel: String {
    case info
    case warning
    case error

    /// What a line of it begins with, for people.
    var prefix: String { self == .info ? "" : "ship-store: \(rawValue): " }

    /// For a line that is about no event: the event of an object.
    var event: String { self == .info ? "message" : rawValue }
}

/// What a line is about.
struct LogSubject {
    /// As `Protocol/OUTPUT.md` names it.
    let event: String
    /// Of a command with several sessions, the number of this one.
    var session: Int?
    var peer: String?
    var store: StoreName?
    /// Whether it is about shipments: not about who listens, and who pairs.
    var isOfShipment = true

    /// When, and in which session with whom, so that lines of sessions side by side can be told apart.
    var stamp: PrintableText {
        guard isOfShipment else { return "" }
        return "\(JSONObject.now) " + (session.map { "[\($0)\(peer.map { " " + $0 } ?? "")] " } ?? "")
    }
}
