import DeviceTrust
import ShipLinks
import ShipProtocol
import StoreBases
import StoreFiles
import StoreSnapshot
import Synchronization
import SystemPackage

/// One shipment whose copy is to be remembered once its receiver has acknowledged it, and with which another session can go on if it
/// breaks off; until then it stays.
final class RememberedShipment: Sendable {
    let bases: RememberedBases
    private let receiver: String
    private let metadata: [String: String]
    private let shipment = Mutex<OutgoingShipment?>(nil)

    /// - Returns: `nil` for a link on which nobody answers.
    ///
    /// - Parameter metadata: What the user says of the store.
    init?(_ bases: RememberedBases?, over link: PeerLink, metadata: [String: String]) {
        guard let bases, link.direction == .twoWay else { return nil }
        self.bases = bases
        self.metadata = metadata
        receiver = link.device?.text ?? "\(link.peer)"
    }

    /// Makes a shipment of a copy.
    func shipment(of copy: consuming PreparedCopy, _ manner: OutgoingShipment.Manner) -> OutgoingShipment {
        // Another one that was made before is not sent any more.
        shipment.withLock { $0 = nil }
        let (manifest, path) = (copy.manifest, copy.path(ofPart: 0))
        let state = copy.copy.state?.encoded(with: metadata)
        let record = SendingRecord(goingOnWith: { [weak self] in self?.earlier(like: manifest) ?? [] }) {
            [bases, receiver] in
            bases.begin(manifest, copy: path, for: receiver, state: state)
        }
        let made = OutgoingShipment(copy, manner, keeping: record) { [bases] in bases.bases.map(OutgoingBase.init) }
        shipment.withLock { $0 = made }
        return made
    }

    /// What has gone of the same store in a session that broke off.
    private func earlier(like manifest: Manifest) -> [() -> UnfinishedShipment?] {
        bases.unfinished(for: receiver).filter { $0.manifest.store.sha256 == manifest.store.sha256 }.map { copy in
            { [bases] in bases.memory.goOn(with: copy) }
        }
    }

    /// A shipment that broke off, and on which a new one can build.
    ///
    /// - Parameters:
    ///   - start: Which one the receiver waits for.
    ///   - next: The new one, whose external files are at hand.
    func unfinished(_ start: ManifestContent.ID.Start, before next: OutgoingShipment) -> OutgoingShipment? {
        let found = bases.unfinished(for: receiver).first { ManifestContent(of: $0.manifest).id.start == start }
        guard let found, found.manifest.isWorthFinishing(before: next.manifest) else { return nil }
        var paths: [Manifest.Part: FilePath] = [:]
        for (index, part) in next.manifest.parts.enumerated().dropFirst() { paths[part] = next.path(ofPart: index) }
        let files = found.manifest.parts.dropFirst().compactMap { paths[$0] }
        guard files.count == found.manifest.externalFiles.count, let copy = found.open(),
            let shapes = try? IndexShapes.all(inCopyAt: copy.path)
        else { return nil }
        // Where it cannot be gone on with, it begins anew under the same entry.
        let record = SendingRecord(goingOnWith: { [bases] in [{ bases.memory.goOn(with: found) }] }) { [bases] in
            bases.memory.goOn(with: found)
        }
        return OutgoingShipment(
            found.manifest, at: [copy.path] + files, next.indexShapes == nil ? nil : shapes, next.manner,
            keeping: record,
            holding: Earlier(found, copy)
        ) { [bases] in bases.bases.map(OutgoingBase.init) }
    }

    /// What a shipment that broke off is made of.
    private final class Earlier: Sendable {
        let remembered: RememberedCopy
        private let copy: OpenedBase

        init(_ remembered: RememberedCopy, _ copy: OpenedBase) {
            self.remembered = remembered
            self.copy = copy
        }
    }

    /// The one that broke off has arrived.
    func finished(_ earlier: OutgoingShipment) {
        guard let remembered = (earlier.held as? Earlier)?.remembered else { return }
        bases.acknowledged(
            earlier.manifest, copy: earlier.path(ofPart: 0), files: earlier.externalPaths, by: receiver,
            state: remembered.state)
        earlier.record?.finish()
        // Where it went from its beginning, and so fast that nothing was recorded.
        bases.memory.goOn(with: remembered)?.finish()
    }

    /// It arrived, or failed: then nothing is remembered of it, unless it broke off.
    func ended(_ result: Result<ProducerSession.Outcome, ShipmentError>) {
        let shipment = shipment.withLock { shipment in
            defer { shipment = nil }
            return shipment
        }
        switch result {
        case .failure: shipment?.record?.finish()
        case .success(let outcome) where outcome.receipt == nil: break
        case .success(let outcome):
            if let shipment {
                bases.acknowledged(
                    outcome.manifest, copy: shipment.path(ofPart: 0), files: shipment.externalPaths, by: receiver,
                    state: shipment.state?.encoded(with: metadata))
                shipment.record?.finish()
            } else {
                // Nothing had to be copied.
                bases.memory.tidy()
            }
            // Nobody waits for what broke off before it.
            for copy in bases.unfinished(for: receiver) where copy.receiver == receiver {
                bases.memory.goOn(with: copy)?.finish()
            }
        }
    }
}

extension Manifest {
    /// Whether a newer copy can build on this one so far that it pays to send all of it first: it is not much smaller, and as far as
    /// the numbers of its rows tell, at least half of it is in both.
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
