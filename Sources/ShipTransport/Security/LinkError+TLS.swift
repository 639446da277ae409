import DeviceTrust
import NIOSSL
import ShipLinks

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
