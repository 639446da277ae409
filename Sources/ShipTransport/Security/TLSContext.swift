import Crypto
package import DeviceTrust
import NIOCore
import NIOSSL
package import ShipLinks

/// How TLS is spoken: version 1.3, a certificate on both sides, and nothing else to believe in.
enum TLSContext {
    /// How long a side that closes a link waits for the other to say the same.
    private static let shutdownTime = TimeAmount.milliseconds(500)

    /// A context of its own for each link: tickets, by which a later handshake would go without certificates, are sealed
    /// with a key of the context's, so that none is ever good for another link.
    static func make(_ identity: DeviceIdentity) throws(LinkError) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: [.certificate(try NIOSSLCertificate(bytes: identity.certificate, format: .der))],
                privateKey: .privateKey(
                    try NIOSSLPrivateKey(bytes: Array(identity.key.derRepresentation), format: .der)))
            configuration.minimumTLSVersion = .tlsv13
            configuration.maximumTLSVersion = .tlsv13
            // A certificate is required. How it is judged is the handler's business alone [`PeerVerification`].
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates([])
            configuration.renegotiationSupport = .none
            configuration.applicationProtocols = []
            configuration.shutdownTimeout = shutdownTime
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw .tlsFailed("\(error)")
        }
    }
}

/// Who may be at the other end of a TCP link.
package enum LinkSecurity: Sendable {
    /// Anybody on this machine, unasked: bytes go as they are, and to and from this machine only.
    case plainOnLoopback
    /// Devices that are known, anywhere: TLS 1.3, in which each side shows its certificate and proves to have its key.
    case mutualTLS(DeviceIdentity, admitting: Admission)

    /// How far a device that has shown who it is gets.
    package enum Admittance: Hashable, Sendable {
        /// Not at all: its handshake fails.
        case refused
        /// It has a link, on which it can come to be known: to a listener it stays one of those that are not.
        case toPair
        case full
    }

    /// How far a device gets at the other end. It is asked anew for each link, on a thread that may wait for a disk; what it
    /// throws counts as `.refused`.
    package typealias Admission = @Sendable (DeviceIdentifier) throws -> Admittance

    /// How a connection to a listener goes that comes from there. It is asked anew for each, on a thread that may wait for a
    /// disk; if it throws, the connection is closed.
    package typealias Choice = @Sendable (Endpoint) throws -> LinkSecurity
}

extension LinkError {
    /// What is wrong with a link that speaks TLS, while its handshake goes on or later: with TLS 1.3 a client learns only
    /// then that the server has turned it away.
    init(onSecureLink error: any Error, _ verdict: PeerVerification.Verdict, _ own: DeviceIdentifier) {
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
        if case .stranger(let id) = verdict {
            self = .notTrusted(id)
            return
        }
        // BoringSSL's reasons reach us in words only [NIOSSL.BoringSSLInternalError]; they are those of its `errors` files.
        let words = stack.map(\.description).joined(separator: ", ")
        self =
            if stack.contains(.eofDuringHandshake) {
                .closedByPeer
            } else if Self.rejections.contains(where: words.contains) {
                .notTrustedThere(own)
            } else if words.contains("PEER_DID_NOT_RETURN_A_CERTIFICATE") {
                .noCertificate
            } else if Self.strangeBytes.contains(where: words.contains) {
                .noTLSThere
            } else {
                .tlsFailed(stack.map(Self.reason).joined(separator: ", "))
            }
    }

    /// `UNSUPPORTED_PROTOCOL` of `Error: 268435696 error:100000f0:SSL routines:OPENSSL_internal:UNSUPPORTED_PROTOCOL at ...`.
    private static func reason(_ error: BoringSSLInternalError) -> String {
        let parts = error.description.split(separator: ":").drop { $0 != "OPENSSL_internal" }.dropFirst()
        return (parts.first ?? Substring(error.description)).split(separator: " ").first.map(String.init) ?? ""
    }

    /// Alerts by which the other side says that it does not take our certificate [RFC 8446 section 6.2].
    private static let rejections = [
        "ALERT_CERTIFICATE_UNKNOWN", "ALERT_BAD_CERTIFICATE", "ALERT_UNKNOWN_CA", "ALERT_ACCESS_DENIED",
        "ALERT_CERTIFICATE_REQUIRED", "ALERT_CERTIFICATE_REVOKED", "ALERT_UNSUPPORTED_CERTIFICATE",
    ]
    /// What comes is no record of TLS.
    private static let strangeBytes = ["WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST"]
}
