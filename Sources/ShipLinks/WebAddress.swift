import ShipProtocol

/// The address of a folder on a web server: a URL without a user, a query and a fragment [RFC 3986].
public struct WebAddress: Hashable, Sendable {
    /// `https`, and not `http`.
    public let isSecure: Bool
    /// A name or an address, without brackets.
    public let host: String
    public let port: Int
    /// Empty, or with a `/` at its beginning and none at its end.
    public let path: String

    /// - Parameter path: With or without a `/` at its end.
    /// - Returns: `nil` if the path has anything that stands in no path of a URL.
    init?(isSecure: Bool, host: String, port: Int, path: String) {
        var path = Substring(path)
        while path.last == "/" { path = path.dropLast() }
        guard path.utf8.allSatisfy(Self.isAllowed) else { return nil }
        (self.isSecure, self.host, self.port, self.path) = (isSecure, host, port, String(path))
    }

    /// Unreserved characters, those of sub-delimiters, `:`, `@`, `/`, and `%` of what is encoded [RFC 3986 section 3.3].
    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-._~!$&'()*+,;=:@/%".utf8.contains(byte)
    }

    /// The host as it stands in a URL, and the port unless it is the scheme's own.
    package var authority: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? host : "\(host):\(port)"
    }

    var text: String { "\(isSecure ? "https" : "http")://\(authority)\(path)" }
}
