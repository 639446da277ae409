import ShipProtocol
public import SystemPackage

/// Where a shipment goes to or comes from, as the command line writes it (ENDPOINT in its help).
///
/// | text | meaning |
/// |---|---|
/// | `-` | the standard streams |
/// | `unix:PATH` | a Unix socket |
/// | `exec:COMMAND` | the standard streams of a child, `/bin/sh -c COMMAND` |
/// | `dir:PATH` | a folder in which stores are published |
/// | `s3://BUCKET[/PREFIX]` | the same in S3-compatible storage |
/// | `https://HOST[:PORT]/PATH`, `http://...` | such a folder, as a web server shows it |
/// | `file:PATH`, or any text with a `/`, or a name that ends in `.shipment` | a file |
/// | `tcp:HOST[:PORT]`, `HOST:PORT`, `HOST` | TCP; an IPv6 address stands in brackets |
///
/// The first row that fits counts. So `watch` is a host, never a file; the file in the current folder is `./watch`.
public enum Endpoint: Hashable, Sendable {
    /// A name or an address, without brackets.
    case tcp(host: String, port: Int)
    case standardStreams
    case unix(FilePath)
    case command(String)
    case file(FilePath)
    case folder(FilePath)
    case web(WebAddress)
    case bucket(BucketAddress)

    /// The port of a text that names none.
    public static let defaultPort = 7645
    /// A text with this ending is a file, without a `/` or `file:` too.
    public static let shipmentSuffix = ".shipment"
}

extension Endpoint: CustomStringConvertible {
    /// A text that parses to this endpoint again.
    public var description: String {
        switch self {
        case .tcp(let host, let port):
            let text = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            return reads(as: text) ? text : "tcp:" + text
        case .standardStreams: return "-"
        case .unix(let path): return "unix:\(path.text)"
        case .command(let command): return "exec:\(command)"
        case .folder(let path): return "dir:\(path.text)"
        case .web(let address): return address.text
        case .bucket(let address): return address.text
        case .file(let path): return reads(as: path.text) ? path.text : "file:\(path.text)"
        }
    }

    private func reads(as text: String) -> Bool {
        (try? Endpoint(text, toListen: true)) == self || (try? Endpoint(text)) == self
    }
}

/// Why a text is no endpoint.
public enum EndpointError: Error, Hashable, Sendable {
    /// Nothing, or nothing after `unix:`, `exec:`, `file:` or `tcp:`.
    case empty(String)
    /// A NUL byte, which no path, name or command can hold.
    case containsNUL
    /// Not a host's name: letters, digits, `.`, `-` and `_`.
    case badHost(String)
    /// Not a number from 1 to 65535 (0 too where one listens).
    case badPort(String)
    /// Several colons: an IPv6 address must stand in brackets.
    case needsBrackets(String)
    /// A URL of another scheme than `http` and `https`, or with more in it than a host, a port and a path.
    case badURL(String)
    /// Digits only: a port without a host.
    case onlyAPort(String)
    /// Not UTF-8, which all of it has to be but the path of a file.
    case notText(String)
    /// A path that ends with a slash.
    case isAFolder(String)
    /// One can listen on TCP and on a Unix socket only.
    case cannotListen(Endpoint)
}

extension Endpoint {
    /// Reads an endpoint by the rules above, without looking at the file system or the network.
    ///
    /// - Parameters:
    ///   - text: As a user writes it.
    ///   - isToListen: Whether one is to listen there: on TCP, where port 0 lets the system choose one, or on a Unix socket.
    public init(_ text: String, toListen isToListen: Bool = false) throws(EndpointError) {
        let endpoint = try Self.parse(text, isToListen)
        switch endpoint {
        case .standardStreams where isToListen, .command where isToListen, .file where isToListen,
            .folder where isToListen, .web where isToListen, .bucket where isToListen:
            throw .cannotListen(endpoint)
        case .tcp, .unix, .standardStreams, .command, .web, .bucket:
            guard PathText.isPlain(text) else { throw .notText(text) }
            self = endpoint
        case .file, .folder: self = endpoint
        }
    }

    private static func parse(_ text: String, _ isToListen: Bool) throws(EndpointError) -> Endpoint {
        guard !text.utf8.contains(0) else { throw .containsNUL }
        guard !text.isEmpty else { throw .empty(text) }
        if text == "-" { return .standardStreams }
        if let path = try rest(of: text, after: "unix:") { return .unix(FilePath(text: path)) }
        if let command = try rest(of: text, after: "exec:") { return .command(command) }
        if let path = try rest(of: text, after: "file:") { return .file(FilePath(text: path)) }
        if let path = try rest(of: text, after: "dir:") { return .folder(FilePath(text: path)) }
        if let place = try rest(of: text, after: "s3://") {
            guard let address = BucketAddress(place) else { throw .badURL(text) }
            return .bucket(address)
        }
        if ["s3:", "http:", "https:"].contains(text) { throw .badURL(text) }
        if isURL(text) { return .web(try parseURL(text)) }
        if let address = try rest(of: text, after: "tcp:") { return try parseAddress(address, isToListen) }
        if text.hasSuffix("/") { throw .isAFolder(text) }
        if text.contains("/") { return .file(FilePath(text: text)) }
        if text.hasSuffix(shipmentSuffix) { return .file(FilePath(text: text)) }
        return try parseAddress(text, isToListen)
    }

    /// A scheme and `//` [RFC 3986 section 3]. A file that has such a name is `./NAME`.
    private static func isURL(_ text: String) -> Bool {
        guard let end = text.firstRange(of: "://")?.lowerBound, end > text.startIndex else { return false }
        return text[..<end].utf8.allSatisfy { $0.isLetterOrDigit || "+.-".utf8.contains($0) }
    }

    private static func parseURL(_ text: String) throws(EndpointError) -> WebAddress {
        guard let end = text.firstRange(of: "://")?.lowerBound else { throw .badURL(text) }
        let (scheme, rest) = (text[..<end].lowercased(), text[end...].dropFirst(3))
        guard scheme == "https" || scheme == "http" else { throw .badURL(text) }
        let start = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = String(rest[..<start])
        guard !authority.isEmpty, !authority.contains("@") else { throw .badURL(text) }
        let isSecure = scheme == "https"
        let hasPort = authority.split(separator: "]", omittingEmptySubsequences: false).last?.contains(":") == true
        guard
            case .tcp(let host, let port) = try parseAddress(
                hasPort ? authority : "\(authority):\(isSecure ? 443 : 80)", false),
            let address = WebAddress(isSecure: isSecure, host: host, port: port, path: String(rest[start...]))
        else { throw .badURL(text) }
        return address
    }

    private static func rest(of text: String, after prefix: String) throws(EndpointError) -> String? {
        guard text.hasPrefix(prefix) else { return nil }
        guard text.utf8.count > prefix.utf8.count else { throw .empty(text) }
        return String(text.dropFirst(prefix.count))
    }

    private static func parseAddress(_ text: String, _ isToListen: Bool) throws(EndpointError) -> Endpoint {
        if text.hasPrefix("[") { return try parseBracketed(text, isToListen) }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw .needsBrackets(text) }
        guard let host = parts.first, isHost(host) else { throw .badHost(String(parts.first ?? "")) }
        guard parts.count == 2 else {
            guard !host.allSatisfy(\.isNumber) else { throw .onlyAPort(text) }
            return .tcp(host: String(host), port: defaultPort)
        }
        return .tcp(host: String(host), port: try parsePort(parts[1], isToListen))
    }

    private static func parseBracketed(_ text: String, _ isToListen: Bool) throws(EndpointError) -> Endpoint {
        guard let end = text.firstIndex(of: "]") else { throw .badHost(text) }
        let host = text[text.index(after: text.startIndex)..<end]
        let rest = text[text.index(after: end)...]
        guard host.contains(":"), host.utf8.allSatisfy(isPartOfIPv6) else { throw .badHost(String(host)) }
        if rest.isEmpty { return .tcp(host: String(host), port: defaultPort) }
        guard rest.hasPrefix(":") else { throw .badPort(String(rest)) }
        return .tcp(host: String(host), port: try parsePort(rest.dropFirst(), isToListen))
    }

    private static func parsePort(_ text: Substring, _ isToListen: Bool) throws(EndpointError) -> Int {
        guard text.utf8.allSatisfy(\.isDigit), let port = UInt16(text),
            port > 0 || isToListen
        else { throw .badPort(String(text)) }
        return Int(port)
    }

    /// Standards allow no underscore in a host's name, but many networks use them.
    private static func isHost(_ text: Substring) -> Bool {
        !text.isEmpty && !text.hasPrefix("-")
            && text.utf8.allSatisfy(\.isOfName)
    }

    /// The zone after a `%` names a network interface.
    private static func isPartOfIPv6(_ byte: UInt8) -> Bool { byte.isOfName || ":%".utf8.contains(byte) }
}
