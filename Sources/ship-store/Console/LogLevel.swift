/// How much a line matters.
enum LogLevel: String {
    case info
    case warning
    case error

    /// The beginning of a line of it, for people.
    var prefix: String { self == .info ? "" : "ship-store: \(rawValue): " }

    /// For a line that is about no event: the event of an object.
    var event: String { self == .info ? "message" : rawValue }
}
