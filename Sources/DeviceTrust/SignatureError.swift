/// Why a signature does not belong to its shipment.
public enum SignatureError: Error, Hashable, Sendable {
    /// The bytes of the certificate are none.
    case badCertificate
    /// The certificate's key is not a P-256 key.
    case otherKey
    /// It was made with another key or over other bytes, or has been changed.
    case wrong
    /// It is another device's than the one at the other end of the link.
    case otherDevice
}
