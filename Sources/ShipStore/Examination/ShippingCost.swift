import ShipCompression
import ShipProtocol
import StoreEncoding
import StoreFiles
import Synchronization
import SystemPackage

/// The bytes that a store takes on the wire, in all and for each table.
///
/// A store that is not large is encoded as `send` does it, for a link that drops everything: in a small store tables share
/// segments, so that the sum of the tables alone would be too large. Of a large store some segments are encoded, as a sample.
struct ShippingCost: Sendable {
    /// Bytes of the whole shipment, without its signature.
    let total: Int64
    /// By the table's name, `sqlite_schema` among them; `nil` for a store that is sent by pages.
    let tables: [String: TableCost]?
    /// Bytes of the external files.
    let externalFiles: Int64

    /// Most bytes that are encoded.
    private static let mostEncoded: Int64 = 32 * 1024 * 1024

    init(of shipment: OutgoingShipment) async throws {
        let level = shipment.options.effort.levelIntoFile
        let isLarge = shipment.manifest.totalSize > Self.mostEncoded
        let rows = try? shipment.version.indexShapes.map { shapes in
            let path = shipment.path(ofPart: 0)
            return try TableCost.byTable(
                over: PageFile(reading: path), shapes: shapes,
                effort: isLarge ? SegmentEffort(level) : .standard, encoding: Self.mostEncoded
            ) {
                try EntrySpill(at: FilePath(text: path.text + ".part-entries"))
            }
        }
        let tables = rows.flatMap(\.self)
        guard isLarge, let tables else {
            // How many bytes had gone over the wire, after the manifest, for how many bytes of the parts.
            let steps = Mutex<[(done: Int64, wire: Int64)]>([])
            let session = ProducerSession(timeouts: Timeouts(), authorization: .ofNobody) { event in
                switch event {
                case .progress(let done, _, let wire): steps.withLock { $0.append((done, wire)) }
                case .startedAgain: steps.withLock { $0.removeLast($0.count - min(1, $0.count)) }
                case .connected, .copied, .finishing, .wentOn, .overtaken, .goesWhole, .mayBeGone, .awaitingReceipt,
                    .delivered, .failed, .unfollowed, .disconnected, .makesWay, .awaits, .listener:
                    break
                }
            }
            let orders = [ProducerSession.Order(prepare: { shipment })]
            total = try await session.run(.nowhere(as: .standardStreams), orders).results.reduce(0) {
                try $0 + $1.get().bytesSent
            }
            let wire = steps.withLock { $0 }
            let (first, last) = (wire.first?.wire ?? 0, wire.last?.wire ?? 0)
            let store = (wire.first { $0.done >= shipment.manifest.store.size }?.wire ?? last) - first
            externalFiles = last - first - store
            self.tables = tables.map { Self.scale($0, to: store) }
            return
        }
        externalFiles = try Self.externalFiles(of: shipment, level)
        self.tables = tables
        total =
            tables.values.reduce(0) { $0 + $1.total } + externalFiles
            + Int64(try Frame.manifest(shipment.manifest).serialized().count + Preamble.size)
    }

    /// Scales the bytes of single tables, so that their sum is what they take together.
    private static func scale(_ costs: [String: TableCost], to total: Int64) -> [String: TableCost] {
        let costs = costs.sorted { $0.key < $1.key }
        let scaled = zip(costs, costs.map(\.value.total).shares(of: total)).map { ($0.key, $0.value.scaled(to: $1)) }
        return Dictionary(scaled) { first, _ in first }
    }

    /// Deflates the first files, as a sample of all.
    private static func externalFiles(of shipment: OutgoingShipment, _ level: CompressionLevel) throws -> Int64 {
        var (encoded, read, all) = (Int64(0), Int64(0), Int64(0))
        for (index, part) in shipment.manifest.parts.enumerated().dropFirst() {
            all += part.size
            let count = Int(min(part.size, Int64(Limits.blockSize)))
            guard read < mostEncoded, count > 0 else { continue }
            let bytes = try OpenFile.readingWithoutFollowing(shipment.path(ofPart: index)).read(count, at: 0)
            encoded += Int64(try Deflate.encodedSize(of: bytes, level: level))
            read += Int64(bytes.count)
        }
        return read == 0 ? 0 : Int64(Double(encoded) / Double(read) * Double(all))
    }
}
