// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding StoreFiles DeviceTrust
// libraries: CryptoExtras SwiftASN1 X509 _CertificateInternals

import DeviceTrust
import ShipProtocol
import StoreFiles

/// After a first byte, the JSON of a catalog (0), that of a head and, after a zero byte, the frames of its shipments (1), the content of a head as it
/// is packed, but for deflate (3), the frames of a shipment in it (4), or a whole file of a publication.
///
/// So a fuzzer need not make deflate streams. What is read is written, and read again.
enum PublishedTarget {
    static func run(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let rest = Array(input.dropFirst())
        do throws(ProtocolError) {
            switch first {
            case 0: try catalog(stored(rest))
            case 1: try head(headFile(content(rest)))
            case 3: try head(headFile(rest))
            case 4: try shipment(rest)
            default: try file(rest)
            }
        } catch {}
    }

    private static func file(_ bytes: [UInt8]) throws(ProtocolError) {
        _ = try? PublicationKeys(decoding: bytes, with: key)
        if SealedHead.isOne(bytes) { _ = keys?.open(try SealedHead(decoding: bytes)) }
        _ = keys?.secret.cipher(for: ContentDigest(hashing: [])).open(bytes, number: 0, isLast: true)
        try? catalog(bytes)
        try head(bytes)
    }

    private static func catalog(_ bytes: [UInt8]) throws(ProtocolError) {
        let catalog = try StoreCatalog(decoding: bytes)
        guard let again = try? StoreCatalog(decoding: catalog.encoded), again == catalog else {
            fatalError("a catalog is another one once it has been written")
        }
        _ = try? catalog.shipments(in: bytes)
    }

    private static func head(_ bytes: [UInt8]) throws(ProtocolError) {
        let file = try HeadFile(decoding: bytes)
        _ = try? file.signer(by: bytes)
        let head = try file.head()
        let written = HeadFile(head, by: file.publisher) { _ in file.signature }
        guard let again = try? HeadFile(decoding: written.encoded).head(), again == head else {
            fatalError("a head is another one once it has been written")
        }
    }

    private static func shipment(_ frames: [UInt8]) throws(ProtocolError) {
        let step = PublishedStep(
            from: held.id, to: ManifestContent(json: []).id, counter: 1, size: Int64(frames.count), sha256: nil)
        let file = try InlineStep(step, shipment: frames).file(by: [1], over: held)
        guard Preamble.begins(file) else { fatalError("a shipment that is none once it is whole") }
    }

    private static func headFile(_ content: [UInt8]) -> [UInt8] {
        Array("SHIPHEAD".utf8) + [UInt8](repeating: 1, count: 1 + ContentDigest.size + Signature.size) + stored(content)
    }

    private static func content(_ input: [UInt8]) -> [UInt8] {
        let json = Array(input.prefix { $0 != 0 })
        var content: [UInt8] = []
        content.append(bigEndian: UInt32(json.count))
        return content + json + input.dropFirst(json.count + 1)
    }

    /// A deflate stream of stored blocks [RFC 1951 section 3.2.4].
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var (stream, rest) = ([UInt8](), bytes[...])
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(block.count)
            let size = UInt16(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            for word in [size, ~size] { stream += [UInt8(word & 0xFF), UInt8(word >> 8)] }
            stream += block
        } while !rest.isEmpty
        return stream
    }

    private static let held = ManifestContent(json: Array(#"{"name":"a","store":{"sha256":"0"},"tables":{}}"#.utf8))
    private static let key = DecryptionKey()
    private static let keys = try? PublicationKeys(for: [], by: key, after: nil)
}
