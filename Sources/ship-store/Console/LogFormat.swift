/// How the lines on standard error look.
enum LogFormat: Hashable {
    /// For people; stamped where the command goes on for long: see `LogSubject.stamp`.
    case text(stamped: Bool)
    /// For programs: an object a line, as `Protocol/OUTPUT.md` says.
    case json
}
