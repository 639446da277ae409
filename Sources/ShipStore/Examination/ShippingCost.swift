import ShipCompression
import ShipLinks
import ShipProtocol
import StoreFiles
import StoreFormat
import Synchronization

/// What a store takes on the wire, all of it and table by table.
///
/// What is not large is encoded just as `send` does it, for nobody: in a small store tables share segments, and what each
/// takes for itself, added up, is more than all of them take. Of a large one a part of the segments is encoded, which stands
/// for the rest.
struct ShippingCost: Sendable {
    /// Bytes of the whole shipment, but for its signature.
    let total: Int64
    /// By the table's name, `sqlite_schema` among them; `nil` for a store that goes by its pages.
    let tables: [String: TableCost]?
    /// Bytes of the external files.
    let externalFiles: Int64

    /// How much is encoded, in bytes.
    private static let mostEncoded: Int64 = 32 * 1024 * 1024

    init(of shipment: OutgoingShipment) async throws {
        let level = shipment.manner.effort.levelIntoFile
        let isLarge = shipment.manifest.totalSize > Self.mostEncoded
        let rows = try? shipment.indexShapes.map { shapes in
            try TableCosts.byRows(
                over: PageFile(reading: shipment.path(ofPart: 0)), shapes: shapes,
                effort: isLarge ? SegmentEffort(level) : .standard, encoding: Self.mostEncoded)
        }
        let tables = rows.flatMap(\.self)
        guard isLarge, let tables else {
            let wire = WireBytes()
            let session = ProducerSession(
                timeouts: Timeouts(), standing: .ofNobody, report: { wire.note($0) })
            let orders = [ProducerSession.Order(prepare: { shipment })]
            total = try await session.run(.nowhere(as: .standardStreams), orders).reduce(0) {
                try $0 + $1.get().bytesSent
            }
            let store = wire.bytes(upTo: shipment.manifest.store.size)
            externalFiles = wire.all - store
            self.tables = tables.map { Self.scale($0, to: store) }
            return
        }
        externalFiles = try Self.externalFiles(of: shipment, level)
        self.tables = tables
        total =
            tables.values.reduce(0) { $0 + $1.total } + externalFiles
            + Int64(try Frame.manifest(shipment.manifest).serialized().count + Preamble.size)
    }

    /// What tables take for themselves, so that they add up to what they take together.
    private static func scale(_ costs: [String: TableCost], to total: Int64) -> [String: TableCost] {
        let costs = costs.sorted { $0.key < $1.key }
        let scaled = zip(costs, costs.map(\.value.total).shares(of: total)).map { ($0.key, $0.value.scaled(to: $1)) }
        return Dictionary(scaled) { first, _ in first }
    }

    /// Of many files the first are deflated, and stand for the others.
    private static func externalFiles(of shipment: OutgoingShipment, _ level: CompressionLevel) throws -> Int64 {
        var (encoded, read, all) = (Int64(0), Int64(0), Int64(0))
        for (index, part) in shipment.manifest.parts.enumerated().dropFirst() {
            all += part.size
            let count = Int(min(part.size, Int64(Limits.blockSize)))
            guard read < mostEncoded, count > 0 else { continue }
            let bytes = try OpenFile.readingWithoutFollowing(shipment.path(ofPart: index)).read(count, at: 0)
            encoded += Int64(try EncodedSize.of(bytes, level: level))
            read += Int64(bytes.count)
        }
        return read == 0 ? 0 : Int64(Double(encoded) / Double(read) * Double(all))
    }
}

/// What went over the wire for how much of a shipment.
private final class WireBytes: Sendable {
    private let steps = Mutex<[(done: Int64, wire: Int64)]>([])

    func note(_ event: SendEvent) {
        switch event {
        case .progress(let done, _, let wire): steps.withLock { $0.append((done, wire)) }
        case .startedAgain: steps.withLock { $0.removeLast($0.count - min(1, $0.count)) }
        case .connected, .copied, .finishing, .wentOn, .overtaken, .goesWhole, .mayBeGone, .awaitingReceipt, .delivered,
            .failed:
            break
        }
    }

    /// Bytes on the wire after the manifest.
    var all: Int64 { steps.withLock { ($0.last?.wire ?? 0) - ($0.first?.wire ?? 0) } }

    /// Those of them until so many bytes of the parts had gone.
    func bytes(upTo size: Int64) -> Int64 {
        steps.withLock { steps in
            (steps.first { $0.done >= size }?.wire ?? steps.last?.wire ?? 0) - (steps.first?.wire ?? 0)
        }
    }
}
