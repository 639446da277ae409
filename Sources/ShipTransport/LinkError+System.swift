import DeviceTrust
import NIOCore
import NIOPosix
import NIOSSL
import ShipLinks
import StoreFiles
import SystemPackage

extension LinkError {
    /// The error of reading from or writing to an open link.
    init(onOpenLink error: any Error) {
        switch error {
        case let error as LinkError: self = error
        case let error as FileError: self = .file(error)
        case let error as IOError:
            let errno = Errno(rawValue: error.errnoCode)
            self = Self.meansPeerIsGone.contains(errno) ? .closedByPeer : .io(errno)
        case ChannelError.outputClosed: self = .io(.brokenPipe)  // a write after the end
        case is ChannelError: self = .closedByPeer
        case is CancellationError: self = .cancelled
        default: self = .io(error as? Errno ?? .ioError)
        }
    }

    private static let meansPeerIsGone: Set<Errno> = [
        .brokenPipe, .connectionReset, .connectionAbort, .socketNotConnected, .socketShutdown,
    ]

    /// The error of connecting to `endpoint`, or of listening on it.
    init(opening endpoint: Endpoint, _ error: any Error) {
        switch error {
        case let error as LinkError: self = error
        case let error as IOError: self.init(opening: endpoint, Errno(rawValue: error.errnoCode))
        case let error as NIOConnectionError:
            // It reports the first address that refused, or else the first one: an address without a route, often IPv6, says
            // less.
            let failures = error.connectionErrors
            let errors = failures.map { failure in
                // A web server is named by its URL.
                if case .web = endpoint { return LinkError(opening: endpoint, failure.error) }
                return LinkError(opening: Endpoint(failure.target) ?? endpoint, failure.error)
            }
            let refusal = errors.first { error in
                if case .refused = error { true } else { false }
            }
            self = refusal ?? errors.first ?? .unreachable(endpoint, .noRouteToHost)
        case ChannelError.connectTimeout: self = .timedOutConnecting(endpoint)
        case is CancellationError: self = .cancelled
        default: self = .io(error as? Errno ?? .ioError)
        }
    }

    init(opening endpoint: Endpoint, _ errno: Errno) {
        self =
            switch errno {
            case .connectionRefused: .refused(endpoint)
            case .timedOut: .timedOutConnecting(endpoint)
            case .noRouteToHost, .networkUnreachable, .networkDown, .hostIsDown, .noSuchFileOrDirectory, .notDirectory:
                .unreachable(endpoint, errno)
            case .addressInUse: .addressInUse(endpoint)
            case .addressNotAvailable: .notOurAddress(endpoint)
            case .permissionDenied, .notPermitted: .notPermitted(endpoint)
            default: .io(errno)
            }
    }
}

extension LinkError {
    /// An error of a link with TLS, during its handshake or later: with TLS 1.3 a client learns only after its handshake that the
    /// server has refused it.
    init(onSecureLink error: any Error, _ verification: PeerVerification, _ own: DeviceIdentifier) {
        let stack: NIOBoringSSLErrorStack
        switch error {
        case NIOSSLError.handshakeFailed(.sslError(let errors)), BoringSSLError.sslError(let errors): stack = errors
        case NIOSSLError.uncleanShutdown, NIOSSLError.handshakeFailed, is NIOSSLCloseTimedOutError:
            self = .closedByPeer
            return
        default:
            self.init(onOpenLink: error)
            return
        }
        if case (let device, .refused?)? = verification.verdict {
            self = .notTrusted(device)
            return
        }
        // NIOSSL gives BoringSSL's reasons as text only [NIOSSL.BoringSSLInternalError]: the names in BoringSSL's `errors` files.
        let words = stack.map(\.description).joined(separator: ", ")
        self =
            if stack.contains(.eofDuringHandshake) {
                .closedByPeer
            } else if Self.rejections.contains(where: words.contains) {
                .notTrustedThere(own)
            } else if words.contains("PEER_DID_NOT_RETURN_A_CERTIFICATE") {
                .noCertificate
            } else if Self.notTLS.contains(where: words.contains) {
                .noTLSThere
            } else {
                .tlsFailed(stack.map { Self.reason($0.description) }.joined(separator: ", "))
            }
    }

    /// `UNSUPPORTED_PROTOCOL` of `Error: 268435696 error:100000f0:SSL routines:OPENSSL_internal:UNSUPPORTED_PROTOCOL at ...`.
    private static func reason(_ error: String) -> String {
        let parts = error.split(separator: ":").drop { $0 != "OPENSSL_internal" }.dropFirst()
        return parts.first?.split(separator: " ").first.map(String.init) ?? error
    }

    /// Why no encrypted link to a web server came about.
    static func wordsOnWeb(_ error: String) -> String {
        notTLS.contains(where: error.contains) ? "the server speaks no TLS at this port" : reason(error)
    }

    /// Alerts by which the other side rejects this side's certificate [RFC 8446 section 6.2].
    private static let rejections = [
        "ALERT_CERTIFICATE_UNKNOWN", "ALERT_BAD_CERTIFICATE", "ALERT_UNKNOWN_CA", "ALERT_ACCESS_DENIED",
        "ALERT_CERTIFICATE_REQUIRED", "ALERT_CERTIFICATE_REVOKED", "ALERT_UNSUPPORTED_CERTIFICATE",
    ]
    /// The bytes are no record of TLS.
    private static let notTLS = ["WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST"]
}

extension Endpoint {
    init?(_ address: SocketAddress) {
        switch address {
        case .v4, .v6:
            guard let host = address.ipAddress, let port = address.port else { return nil }
            self = .tcp(host: host, port: port)
        case .unixDomainSocket:
            guard let path = address.pathname, !path.isEmpty else { return nil }
            self = .unix(FilePath(path))
        }
    }
}
