public import SystemPackage

/// Where a shipment goes to or comes from, as the command line writes it (ENDPOINT in its help).
///
/// | text | meaning |
/// |---|---|
/// | `-` | the standard streams |
/// | `unix:PATH` | a Unix socket |
/// | `exec:COMMAND` | the standard streams of a child, `/bin/sh -c COMMAND` |
/// | `file:PATH`, or any text with a `/`, or a name that ends in `.shipment` | a file |
/// | `tcp:HOST[:PORT]`, `HOST:PORT`, `HOST` | TCP; an IPv6 address stands in brackets |
///
/// The first row that fits counts. So `watch` is a device, never a file of that name; a file in the current folder is
/// `./watch`.
public enum Endpoint: Hashable, Sendable {
    /// A name or an address, without brackets.
    case tcp(host: String, port: Int)
    case standardStreams
    case unix(FilePath)
    case command(String)
    case file(FilePath)

    /// The port that a text without one means.
    public static let defaultPort = 7645
    /// How the name of a file ends that needs neither a `/` nor `file:` to be recognised.
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
        case .unix(let path): return "unix:\(path)"
        case .command(let command): return "exec:\(command)"
        case .file(let path): return reads(as: path.string) ? path.string : "file:\(path)"
        }
    }

    private func reads(as text: String) -> Bool {
        (try? Endpoint(text, for: .listening)) == self || (try? Endpoint(text, for: .connecting)) == self
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
    /// Digits only: a port without a host.
    case onlyAPort(String)
    /// One can listen on TCP and on a Unix socket only.
    case cannotListen(Endpoint)
}
