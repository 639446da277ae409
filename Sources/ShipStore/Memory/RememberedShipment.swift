import ShipLinks
import ShipProtocol
import StoreBases
import StoreFormat
import Synchronization
import SystemPackage

/// One shipment of a two-way session. Its copy is remembered once the receiver has acknowledged it; if the shipment breaks off, another
/// session can go on with it.
final class RememberedShipment: Sendable {
    let bases: RememberedBases
    private let receiver: String
    private let metadata: [String: String]
    private let shipment = Mutex<OutgoingShipment?>(nil)
    /// The one that broke off, and goes before it.
    private let earlier = Mutex<RememberedCopy?>(nil)

    /// - Parameter receiver: A device's id, or a place.
    init(_ bases: RememberedBases, to receiver: String, metadata: [String: String]) {
        (self.bases, self.receiver, self.metadata) = (bases, receiver, metadata)
    }

    /// Makes a shipment of a version.
    func shipment(
        of version: StoreVersion, copiedIn duration: Duration?, _ options: Producer.Options
    ) -> OutgoingShipment {
        drop()
        let (manifest, path) = (version.manifest, version.path(ofPart: 0))
        let state = version.state?.encoded(with: metadata)
        let record = SendingRecord(goingOnWith: { [weak self] in self?.records(like: manifest) ?? [] }) {
            [bases, receiver] in
            bases.begin(manifest, copy: path, for: receiver, state: state)
        }
        let made = OutgoingShipment(version, copiedIn: duration, options, keeping: record) { [bases] in
            bases.bases.map(OutgoingBase.init)
        }
        shipment.withLock { $0 = made }
        return made
    }

    /// Lets go of the shipment that was made last: it will not be sent.
    func drop() { shipment.withLock { $0 = nil } }

    /// Takes up the records of shipments of the same store that broke off.
    private func records(like manifest: Manifest) -> [() -> SendingRecord.Recorded?] {
        bases.unfinished(for: receiver).filter { $0.manifest.store.sha256 == manifest.store.sha256 }.map { copy in
            { [bases] in bases.memory.resume(copy).flatMap(SendingRecord.recorded) }
        }
    }

    /// The shipment that broke off, if a new one can build on it.
    ///
    /// - Parameters:
    ///   - start: The content that the receiver waits for.
    ///   - next: The new one; external files of both are read from its copy.
    func unfinished(_ start: ManifestContent.ID.Start, before next: OutgoingShipment) -> OutgoingShipment? {
        let found = bases.unfinished(for: receiver).first { $0.content.id.start == start }
        guard let found, found.manifest.isWorthFinishing(before: next.manifest) else { return nil }
        var paths: [Manifest.Part: FilePath] = [:]
        for (index, part) in next.manifest.parts.enumerated().dropFirst() { paths[part] = next.path(ofPart: index) }
        let files = found.manifest.parts.dropFirst().compactMap { paths[$0] }
        guard files.count == found.manifest.externalFiles.count, let copy = found.open(),
            let shapes = try? IndexShape.all(inCopyAt: copy.path)
        else { return nil }
        // If the recorded stream is of no use, the shipment begins anew under the same entry.
        let record = SendingRecord(goingOnWith: { [bases] in
            [{ bases.memory.resume(found).flatMap(SendingRecord.recorded) }]
        }) { [bases] in
            bases.memory.resume(found)
        }
        earlier.withLock { $0 = found }
        let version = StoreVersion(
            found.manifest, at: [copy.path] + files, next.version.indexShapes == nil ? nil : shapes, keptBy: copy)
        return OutgoingShipment(version, next.options, keeping: record) { [bases] in
            bases.bases.map(OutgoingBase.init)
        }
    }

    /// The shipment that broke off has arrived.
    func finished(_ earlier: OutgoingShipment) {
        guard let remembered = self.earlier.withLock({ $0 }) else { return }
        bases.acknowledged(
            earlier.manifest, copy: earlier.path(ofPart: 0), files: earlier.version.externalPaths, by: receiver,
            state: remembered.state)
        earlier.record?.finish()
        // The entry also stays if the shipment went from its beginning, and too fast to be recorded.
        bases.memory.resume(remembered)?.finish()
    }

    /// Remembers a shipment that has arrived, and the store; removes the record of one that has failed for good.
    func ended(_ result: Result<Delivery, ShipmentError>, of sent: SentStore?) {
        let shipment = shipment.withLock { $0.take() }
        switch result {
        case .failure: shipment?.record?.finish()
        case .success(let delivery) where delivery.receipt == nil: break
        case .success(let delivery):
            if let shipment {
                bases.acknowledged(
                    delivery.manifest, copy: shipment.path(ofPart: 0), files: shipment.version.externalPaths,
                    by: receiver, state: shipment.version.state?.encoded(with: metadata), sent: sent)
                shipment.record?.finish()
            } else {
                // The consumer had the store already: no copy was taken.
                bases.memory.tidy()
            }
            // The receiver no longer waits for what broke off before.
            for copy in bases.unfinished(for: receiver) where copy.receiver == receiver {
                bases.memory.resume(copy)?.finish()
            }
        }
    }
}

extension Manifest {
    /// Whether it pays to send the rest of this shipment before a newer one, which then goes as a delta: the newer store is at least half
    /// as large, and by the numbers of rows of the tables at least half of it is in both.
    fileprivate func isWorthFinishing(before next: Manifest) -> Bool {
        guard store.sha256 != next.store.sha256, identity == next.identity, store.size / 2 <= next.store.size else {
            return false
        }
        guard let tables, let others = next.tables else { return true }
        var (common, all) = (0.0, 0.0)
        for (name, table) in others {
            all += Double(table.rows)
            common += Double(min(table.rows, tables[name]?.rows ?? 0))
        }
        return common * 2 >= all
    }
}
