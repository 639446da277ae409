import DeviceTrust
import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization
import SystemPackage

/// The shipments of a file, installed with every check into an inbox of their own in a temporary folder, which is removed with this value.
struct UnpackedShipments: ~Copyable {
    /// With the device that signed each of them, if one has.
    let all: [(generation: Generation, signer: DeviceIdentifier?)]
    private let folder: TemporaryFolder

    init(_ path: FilePath, _ copying: CopyOptions, _ checking: CheckOptions) async throws(ShipmentError) {
        let folder = try ShipmentError.wrapping { try TemporaryFolder(in: copying.temporaryFolder) }
        var options = Consumer.Options()
        options.keptFree = copying.keptFree
        options.checking = checking
        all = try await Self.install(path, into: Consumer(inbox: folder.path.appending("inbox"), options: options))
        self.folder = folder
    }

    private static func install(
        _ path: FilePath, into consumer: Consumer
    ) async throws(ShipmentError) -> [(generation: Generation, signer: DeviceIdentifier?)] {
        let signers = Mutex([StoreName: DeviceIdentifier]())
        let receipts: [Receipt]
        do throws(ShipmentError) {
            receipts = try await consumer.receive(from: path) { report in
                if case .signed(let id) = report.event, let name = report.session?.name {
                    signers.withLock { $0[name] = id }
                }
            }
        } catch .missingBase(let name, let base) {
            throw .notWhole(path, name, base: base)
        }
        return try ShipmentError.wrapping {
            var all: [(generation: Generation, signer: DeviceIdentifier?)] = []
            for receipt in receipts {
                guard let generation = try consumer.inbox.current(of: receipt.name) else {
                    throw InboxError.noSuchStore(receipt.name)
                }
                // Two shipments of a name may be the same one.
                guard !all.contains(where: { $0.generation.path == generation.path }) else { continue }
                all.append((generation, signers.withLock { $0[receipt.name] }))
            }
            return all
        }
    }
}
