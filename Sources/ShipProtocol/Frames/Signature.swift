/// The payload of SIGNATURE, which comes before the manifest of a one-way shipment: who made the shipment, and the proof.
///
///     0   64 bytes  ECDSA signature with P-256 and SHA-256: r, then s, 32 bytes each
///     64  rest      the producer's certificate, as DER: at most `Limits.certificateSize` bytes; none for that of the last SIGNATURE
///
/// It signs the bytes of `signedContent(version:producer:manifest:)`.
///
/// Source: `Protocol/README.md` section 3.6. Vectors: `stream_signed_*`.
package struct Signature: Hashable, Sendable {
    /// Length of r and s, in bytes.
    package static let size = 64

    package let value: [UInt8]
    package let certificate: [UInt8]

    package init(value: [UInt8], certificate: [UInt8]) {
        self.value = value
        self.certificate = certificate
    }

    /// - Parameter last: The certificate that came before, which a payload without one means.
    /// - Throws: `.badSignatureFrame` for a payload without a certificate where none came before.
    package init(decoding payload: ArraySlice<UInt8>, after last: [UInt8] = []) throws(ProtocolError) {
        let certificate = payload.count > Self.size ? Array(payload.dropFirst(Self.size)) : last
        guard payload.count >= Self.size, !certificate.isEmpty else { throw .badSignatureFrame }
        self.init(value: Array(payload.prefix(Self.size)), certificate: certificate)
    }

    func append(to bytes: inout [UInt8], after last: [UInt8]) {
        bytes += value
        if certificate != last { bytes += certificate }
    }
}

extension Signature {
    /// The bytes that a signature of a one-way shipment covers: the manifest, and so every part, whose digest is in the manifest.
    ///
    ///     0   30 bytes  `ship-store one-way shipment v1` in ASCII, so that nobody can use it as a signature of anything else
    ///     30  1 byte    version of the session
    ///     31  1 byte    mode: 1, one-way
    ///     32  32 bytes  the producer's id, so that nobody can put another certificate in its place
    ///     64  8 bytes   length of the manifest's payload
    ///     72  rest      the payload of MANIFEST, as it is sent
    ///
    /// Source: `Protocol/README.md` section 3.6.
    package static func signedContent(version: UInt8, producer id: [UInt8], manifest payload: [UInt8]) -> [UInt8] {
        var bytes = Array("ship-store one-way shipment v1".utf8)
        bytes.reserveCapacity(bytes.count + 42 + payload.count)
        bytes += [version, Preamble.Mode.oneWay.rawValue]
        bytes += id
        bytes.append(bigEndian: UInt64(payload.count))
        bytes += payload
        return bytes
    }
}
