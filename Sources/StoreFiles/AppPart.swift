public import ShipProtocol

/// A part that a schema may need, and only its app has. SQLite has no result codes for these errors, only messages (resolve.c, callback.c,
/// vtab.c); if a message changes, the error is told as any other.
public enum AppPart: Hashable, Sendable {
    case collation(ForeignText)
    case function(ForeignText)
    case module(ForeignText)

    /// - Returns: `nil` for an error about something else.
    package init?(missedIn message: String) {
        func name(after beginning: String) -> ForeignText? {
            guard message.hasPrefix(beginning) else { return nil }
            let name = message.dropFirst(beginning.count)
            return ForeignText(String(name.hasSuffix("()") ? name.dropLast(2) : name))
        }
        if let name = name(after: "no such collation sequence: ") {
            self = .collation(name)
        } else if let name = name(after: "no such function: ") ?? name(after: "unknown function: ") {
            self = .function(name)
        } else if let name = name(after: "no such module: ") {
            self = .module(name)
        } else {
            return nil
        }
    }
}
