import Crypto
import DeviceTrust
import NIOCore
import NIOSSL
import ShipLinks

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
