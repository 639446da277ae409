import SystemPackage

extension Endpoint {
    /// What the endpoint is for.
    public enum Purpose: Hashable, Sendable {
        case connecting
        /// Only TCP and Unix sockets; port 0 lets the system choose one.
        case listening
    }

    /// Reads an endpoint by the rules above, without looking at what there is in the file system or on the network.
    public init(_ text: String, for purpose: Purpose = .connecting) throws(EndpointError) {
        let endpoint = try Self.parse(text, purpose)
        switch (purpose, endpoint) {
        case (.connecting, _), (.listening, .tcp), (.listening, .unix): self = endpoint
        case (.listening, .standardStreams), (.listening, .command), (.listening, .file):
            throw .cannotListen(endpoint)
        }
    }

    private static func parse(_ text: String, _ purpose: Purpose) throws(EndpointError) -> Endpoint {
        guard !text.utf8.contains(0) else { throw .containsNUL }
        guard !text.isEmpty else { throw .empty(text) }
        if text == "-" { return .standardStreams }
        if let path = try rest(of: text, after: "unix:") { return .unix(FilePath(path)) }
        if let command = try rest(of: text, after: "exec:") { return .command(command) }
        if let path = try rest(of: text, after: "file:") { return .file(FilePath(path)) }
        if let address = try rest(of: text, after: "tcp:") { return try parseAddress(address, purpose) }
        if text.contains("/") { return .file(FilePath(text)) }
        if text.hasSuffix(shipmentSuffix) { return .file(FilePath(text)) }
        return try parseAddress(text, purpose)
    }

    private static func rest(of text: String, after prefix: String) throws(EndpointError) -> String? {
        guard text.hasPrefix(prefix) else { return nil }
        guard text.utf8.count > prefix.utf8.count else { throw .empty(text) }
        return String(text.dropFirst(prefix.count))
    }

    private static func parseAddress(_ text: String, _ purpose: Purpose) throws(EndpointError) -> Endpoint {
        if text.hasPrefix("[") { return try parseBracketed(text, purpose) }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw .needsBrackets(text) }
        guard let host = parts.first, isHost(host) else { throw .badHost(String(parts.first ?? "")) }
        guard parts.count == 2 else {
            guard !host.allSatisfy(\.isNumber) else { throw .onlyAPort(text) }
            return .tcp(host: String(host), port: defaultPort)
        }
        return .tcp(host: String(host), port: try parsePort(parts[1], purpose))
    }

    private static func parseBracketed(_ text: String, _ purpose: Purpose) throws(EndpointError) -> Endpoint {
        guard let end = text.firstIndex(of: "]") else { throw .badHost(text) }
        let host = text[text.index(after: text.startIndex)..<end]
        let rest = text[text.index(after: end)...]
        guard host.contains(":"), host.unicodeScalars.allSatisfy(isPartOfIPv6) else { throw .badHost(String(host)) }
        if rest.isEmpty { return .tcp(host: String(host), port: defaultPort) }
        guard rest.hasPrefix(":") else { throw .badPort(String(rest)) }
        return .tcp(host: String(host), port: try parsePort(rest.dropFirst(), purpose))
    }

    private static func parsePort(_ text: Substring, _ purpose: Purpose) throws(EndpointError) -> Int {
        guard text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let port = UInt16(text),
            port > 0 || purpose == .listening
        else { throw .badPort(String(text)) }
        return Int(port)
    }

    /// Underscores are in no host's name by the standards, but in many a network's.
    private static func isHost(_ text: Substring) -> Bool {
        !text.isEmpty && !text.hasPrefix("-")
            && text.unicodeScalars.allSatisfy { isLetterOrDigit($0) || ".-_".unicodeScalars.contains($0) }
    }

    /// The zone after a `%` names a network interface.
    private static func isPartOfIPv6(_ scalar: Unicode.Scalar) -> Bool {
        isLetterOrDigit(scalar) || ":.%-_".unicodeScalars.contains(scalar)
    }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }
}
