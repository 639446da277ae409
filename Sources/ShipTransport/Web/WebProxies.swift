import EssentialFoundation
import NIOCore
import ShipLinks

/// The proxies that the environment names, as curl reads it. A variable that is empty is none.
///
/// | variable | what it names |
/// |---|---|
/// | `https_proxy`, `HTTPS_PROXY` | the proxy for `https` |
/// | `http_proxy` | that for `http`. In upper case it may be a field of a request, where this program runs as a CGI |
/// | `all_proxy`, `ALL_PROXY` | that for both, if neither of those is there |
/// | `no_proxy`, `NO_PROXY` | what is reached without: names, with all below; addresses; networks, as `10.0.0.0/8`; each also with `:PORT`; `*` |
package struct WebProxies: Sendable {
    private let variables: [String: String]
    private static let defaultPort = 1080

    package init(_ variables: [String: String] = ProcessInfo.processInfo.environment) { self.variables = variables }

    /// The proxy by which to reach a server; `nil` for none.
    ///
    /// - Throws: `.badProxy`.
    func proxy(for server: WebTarget.Server) throws(LinkError) -> WebProxy? {
        let names = (server.isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        guard let (name, text) = value(of: names), !isExempt(server) else { return nil }
        guard let proxy = Self.proxy(text) else { throw .badProxy(variable: name) }
        return proxy
    }

    private func value(of names: [String]) -> (name: String, text: String)? {
        for name in names {
            if let text = variables[name], !text.isEmpty { return (name, text) }
        }
        return nil
    }

    /// `http://USER:PASSWORD@HOST:PORT`, of which all but the host may be missing.
    private static func proxy(_ text: String) -> WebProxy? {
        var rest = text[...]
        if let end = rest.firstRange(of: "://") {
            guard rest[..<end.lowerBound].lowercased() == "http" else { return nil }
            rest = rest[end.upperBound...]
        }
        rest = rest.prefix { $0 != "/" }
        var authorization: String?
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let user = decoded(parts[0]) + [UInt8(ascii: ":")] + (parts.count == 2 ? decoded(parts[1]) : [])
            authorization = "Basic \(Data(user).base64EncodedString())"
            rest = rest[at...].dropFirst()
        }
        let isPortNamed = rest.drop { $0 != "]" }.contains(":") || (rest.first != "[" && rest.contains(":"))
        guard case .web(let address)? = try? Endpoint("http://\(rest)\(isPortNamed ? "" : ":\(defaultPort)")") else {
            return nil
        }
        return WebProxy(host: address.host, port: address.port, authorization: authorization)
    }

    /// The bytes that `%` and two digits stand for [RFC 3986 section 2.1].
    private static func decoded(_ text: Substring) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), text.utf8)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let code = UInt8(String(rest.prefix(2)) ?? "", radix: 16) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    // MARK: What is reached without

    private func isExempt(_ server: WebTarget.Server) -> Bool {
        let list = value(of: ["no_proxy", "NO_PROXY"])?.text ?? ""
        return list.split { $0 == "," || $0 == " " }.contains { Self.names($0, server) }
    }

    private static func names(_ entry: Substring, _ server: WebTarget.Server) -> Bool {
        if entry == "*" { return true }
        var (name, port) = (entry, Substring())
        if entry.first == "[" {
            name = entry.dropFirst().prefix { $0 != "]" }
            port = entry.drop { $0 != "]" }.dropFirst(2)
        } else if entry.count(where: { $0 == ":" }) == 1, let colon = entry.firstIndex(of: ":") {
            (name, port) = (entry[..<colon], entry[colon...].dropFirst())
        }
        guard port.isEmpty || Int(port) == server.port else { return false }
        if let address = try? SocketAddress(ipAddress: server.host, port: 0).ipAddress {
            if let network = name.firstIndex(of: "/") {
                return isIn(name[..<network], Int(name[network...].dropFirst()), address)
            }
            return (try? SocketAddress(ipAddress: String(name), port: 0).ipAddress) == address
        }
        name = name.drop { $0 == "." }
        let (host, domain) = (server.host.lowercased(), name.lowercased())
        return host == domain || (!domain.isEmpty && host.hasSuffix(".\(domain)"))
    }

    /// Whether the first bits of an address of IPv4 are those of a network.
    private static func isIn(_ network: Substring, _ bits: Int?, _ address: String) -> Bool {
        func number(_ text: Substring) -> UInt32? {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
            guard parts.count == 4, !parts.contains(nil) else { return nil }
            return parts.reduce(0) { $0 << 8 | UInt32($1 ?? 0) }
        }
        guard let bits, (0...32).contains(bits), let network = number(network), let address = number(address[...])
        else { return false }
        return bits == 0 || (network ^ address) >> (32 - UInt32(bits)) == 0
    }
}
