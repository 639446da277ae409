import DeviceTrust
import EssentialFoundation
import ShipProtocol
import StoreBases
import StoreFiles
import StoreInbox
import Synchronization
import SystemPackage

/// What the shipments of a session on which nobody answers may build on: what their receiver has said that it holds, and a shipment
/// that was made before.
struct FiledBases: Sendable {
    private let holdings: HoldingsFile?
    private let earlier: EarlierShipment?

    /// Unpacks the earlier shipment, with every check that a receiver makes.
    ///
    /// - Returns: `nil` if there is nothing of the kind.
    init?(_ options: Producer.Options) async throws(ShipmentError) {
        holdings = options.holdings
        earlier =
            if let path = options.earlier {
                EarlierShipment(try await UnpackedShipments(path, options.copy.temporaryFolder))
            } else {
                nil
            }
        if holdings == nil, earlier == nil { return nil }
    }

    /// When what the holdings file names may be gone, if that is over.
    var expiry: Timestamp? { holdings.flatMap { $0.until < Timestamp(Date()) ? $0.until : nil } }

    /// - Parameters:
    ///   - memory: What is remembered of the store; `nil` for nothing.
    ///   - signer: The device that signs the shipment; `nil` if none does.
    func shipment(of name: StoreName, _ memory: RememberedBases?, signer: DeviceIdentity?) -> FiledShipment {
        let signer = signer.map { ContentDigest(sha256: $0.id.bytes) }
        return FiledShipment(name, find(name, memory, signer), memory, for: holdings)
    }

    private func find(
        _ name: StoreName, _ memory: RememberedBases?, _ signer: ContentDigest?
    ) -> Result<OutgoingBase, WholeShipment> {
        let known = earlier?[name]
        guard let holdings else {
            guard let known else { return .failure(.notInShipment) }
            return known.signer == signer ? .success(known.base) : .failure(.otherSender)
        }
        guard holdings.sender == signer else { return .failure(.otherSender) }
        guard let held = holdings[name] else { return .failure(.notHeld) }
        if let known, known.base.digest == held.store { return .success(known.base) }
        // Read through now: once the manifest has named it, the receiver has to have it, whatever comes.
        let copy = memory?.bases.first { $0.record.sha256 == held.store }
        guard let copy, let opened = copy.open() else { return .failure(.notRemembered) }
        return .success(
            OutgoingBase(content: ManifestContent(of: copy.manifest), digest: held.store) { opened })
    }
}

/// Why a shipment goes whole although it was to say what has changed.
public enum WholeShipment: Error, Hashable, Sendable {
    /// The receiver holds nothing of this store, or nothing from this sender.
    case notHeld
    /// What the receiver holds is from another sender, or the earlier shipment is another one's.
    case otherSender
    /// This side has no copy any more of what the receiver holds.
    case notRemembered
    /// The earlier shipment is not of this store.
    case notInShipment
}

/// A shipment that was made before, unpacked for as long as this lives.
private final class EarlierShipment: Sendable {
    private let unpacked: UnpackedShipments

    init(_ unpacked: consuming UnpackedShipments) { self.unpacked = unpacked }

    /// A store of it, and the device that has signed that.
    subscript(_ name: StoreName) -> (base: OutgoingBase, signer: ContentDigest?)? {
        guard let found = unpacked.all.last(where: { $0.generation.manifest.name == name }) else { return nil }
        let manifest = found.generation.manifest
        let base = OutgoingBase(content: ManifestContent(of: manifest), digest: manifest.store.sha256) { [self] in
            Store(path: found.generation.storePath, shipment: self)
        }
        return (base, found.signer.map { ContentDigest(sha256: $0.bytes) })
    }

    private final class Store: OutgoingBase.Opened {
        let path: FilePath
        private let shipment: EarlierShipment

        init(path: FilePath, shipment: EarlierShipment) {
            self.path = path
            self.shipment = shipment
        }
    }
}

/// One shipment on which nobody answers. What goes to the receiver of a holdings file is remembered, as the next such file may name it.
final class FiledShipment: Sendable {
    /// So many of the copies that a receiver has not named stay, the newest.
    private static let mostUnnamed = 3

    /// Why it goes whole; `nil` if it does not have to.
    var whole: WholeShipment? { if case .failure(let cause) = base { cause } else { nil } }

    private let base: Result<OutgoingBase, WholeShipment>
    /// Where it is remembered; `nil` if it is for anybody, or nothing is to be.
    let memory: RememberedBases?
    private let holdings: HoldingsFile?
    private let name: StoreName
    private let shipment = Mutex<OutgoingShipment?>(nil)

    /// - Parameter holdings: Of its receiver; `nil` if it is for anybody.
    fileprivate init(
        _ name: StoreName, _ base: Result<OutgoingBase, WholeShipment>, _ memory: RememberedBases?,
        for holdings: HoldingsFile?
    ) {
        self.name = name
        self.base = base
        self.memory = holdings == nil ? nil : memory
        self.holdings = holdings
    }

    /// Makes a shipment of a copy.
    func shipment(of copy: consuming PreparedCopy, _ manner: OutgoingShipment.Manner) -> OutgoingShipment {
        var copy = copy
        let bases = [try? base.get()].compactMap(\.self)
        // The receiver has to have what is named, whether or not it is used.
        if manner.codec != nil, manner.encoding == .columns, let base = bases.first { copy.build(on: base.digest) }
        let made = OutgoingShipment(copy, manner) { bases }
        shipment.withLock { $0 = made }
        return made
    }

    /// The file is there, or is not.
    func ended(_ result: Result<ProducerSession.Outcome, ShipmentError>) {
        let shipment = shipment.withLock { shipment in
            defer { shipment = nil }
            return shipment
        }
        guard let shipment, let memory, let holdings, case .success(let outcome) = result else { return }
        let receiver =
            holdings.receiver.flatMap { DeviceIdentifier(bytes: $0.bytes)?.text } ?? "a receiver without an id"
        let place = "\(receiver), in a file "
        let digest = outcome.manifest.store.sha256
        // What is acknowledged in a session says nothing of a base.
        memory.acknowledged(
            outcome.manifest.over(nil), copy: shipment.path(ofPart: 0), by: place + digest.short)
        let all = memory.bases.filter { $0.receiver.hasPrefix(place) }
        let unnamed = all.filter { ![digest, holdings[name]?.store].contains($0.record.sha256) }
        memory.memory.forget(
            unnamed.sorted { $0.record.rememberedAt > $1.record.rememberedAt }.dropFirst(Self.mostUnnamed))
    }
}
