package import ShipLinks

/// The target of a request: a server, and a path there with its query.
package struct WebTarget: Hashable, Sendable {
    /// A server that requests can share a connection to.
    struct Server: Hashable, Sendable {
        let isSecure: Bool
        let host: String
        let port: Int
        /// The value of `Host`.
        let authority: String

        /// As messages name it.
        var place: Endpoint {
            (try? Endpoint("\(isSecure ? "https" : "http")://\(authority)")) ?? .tcp(host: host, port: port)
        }
    }

    let server: Server
    /// Begins with `/`.
    let target: String

    /// - Parameter path: Below the address, without a `/` at its beginning.
    package init(_ path: String, at address: WebAddress) {
        server = Server(
            isSecure: address.isSecure, host: address.host, port: address.port, authority: address.authority)
        target = "\(address.path)/\(path)"
    }

    /// - Parameters:
    ///   - path: Begins with `/`, and is encoded as it is sent.
    ///   - query: Encoded; empty for none.
    package init(at address: WebAddress, path: String, query: String) {
        self.init(WebTarget("", at: address).server, query.isEmpty ? path : "\(path)?\(query)")
    }

    private init(_ server: Server, _ target: String) { (self.server, self.target) = (server, target) }

    /// Where `Location` leads from here [RFC 9110 section 10.2.2].
    ///
    /// - Returns: `nil` for what is no URL of the web, and for one that leads away from TLS.
    func redirected(to location: String) -> WebTarget? {
        let location = location.prefix { $0 != "#" }
        guard location.utf8.count <= Self.longestLocation, location.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        if location.hasPrefix("//") { return redirected(to: (server.isSecure ? "https:" : "http:") + location) }
        if location.hasPrefix("/") { return WebTarget(server, String(location)) }
        guard location.contains("://") else {
            let folder = target.prefix { $0 != "?" }.reversed().drop { $0 != "/" }.reversed()
            return WebTarget(server, String(folder) + location)
        }
        let query = location.firstIndex(of: "?") ?? location.endIndex
        guard case .web(let address)? = try? Endpoint(String(location[..<query])),
            address.isSecure || !server.isSecure
        else { return nil }
        let base = WebTarget("", at: address)
        let path = address.path.isEmpty ? "/" : address.path
        return WebTarget(base.server, path + location[query...])
    }

    private static let longestLocation = 8192
}
