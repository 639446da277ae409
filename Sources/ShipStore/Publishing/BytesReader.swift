import ShipLinks
import Synchronization

/// The bytes of a shipment that stands in a head.
final class BytesReader: LinkReader {
    private let bytes: Mutex<[UInt8]?>

    init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        bytes.withLock { bytes in
            defer { bytes = nil }
            return bytes
        }
    }
}
