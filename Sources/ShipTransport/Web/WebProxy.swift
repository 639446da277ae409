import ShipLinks

/// A proxy between this device and web servers. It sees what goes over `http`, and of `https` which server is spoken with.
struct WebProxy: Hashable, Sendable {
    let host: String
    let port: Int
    /// The value of `Proxy-Authorization`; `nil` where none is known.
    let authorization: String?

    var endpoint: Endpoint { .tcp(host: host, port: port) }
}
