import NIOCore
import NIOPosix
import ShipLinks
import StoreFiles
import SystemPackage

extension LinkError {
    /// What reading from or writing to an open link came to.
    init(onOpenLink error: any Error) {
        switch error {
        case let error as LinkError: self = error
        case let error as FileError: self = .file(error)
        case let error as IOError:
            let errno = Errno(rawValue: error.errnoCode)
            self = Self.meansPeerIsGone.contains(errno) ? .closedByPeer : .io(errno)
        case ChannelError.outputClosed: self = .io(.brokenPipe)  // written to after its end
        case is ChannelError: self = .closedByPeer
        case is CancellationError: self = .cancelled
        default: self = .io(error as? Errno ?? .ioError)
        }
    }

    private static let meansPeerIsGone: Set<Errno> = [
        .brokenPipe, .connectionReset, .connectionAbort, .socketNotConnected, .socketShutdown,
    ]

    /// What connecting to `endpoint`, or listening on it, came to.
    init(opening endpoint: Endpoint, _ error: any Error) {
        switch error {
        case let error as LinkError: self = error
        case let error as IOError: self.init(opening: endpoint, Errno(rawValue: error.errnoCode))
        case let error as NIOConnectionError:
            // The first address that was tried is the one to speak of; one that refuses tells more than one without
            // a route (IPv6, often).
            let failures = error.connectionErrors
            let told = failures.map { failure in
                LinkError(opening: Endpoint(failure.target) ?? endpoint, failure.error)
            }
            let refusal = told.first { error in
                if case .refused = error { true } else { false }
            }
            self = refusal ?? told.first ?? .unreachable(endpoint, .noRouteToHost)
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

extension Endpoint {
    /// The endpoint at a socket's address.
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
