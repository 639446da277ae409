import DeviceTrust
import ShipProtocol
import ShipTransport
import StoreFiles
import StoreInbox
import Synchronization
import SystemPackage

/// A shipment from a file, installed into an inbox of its own in a temporary folder: every check is made, and all of it
/// goes away with the owner.
struct UnpackedShipment: ~Copyable {
    let generation: Generation
    /// The device that signed it, if one has.
    let signer: DeviceIdentifier?
    private let folder: TemporaryFolder

    init(_ path: FilePath, _ temporaryFolder: FilePath) async throws(ShipmentError) {
        let folder: TemporaryFolder
        do throws(FileError) {
            folder = try TemporaryFolder(in: temporaryFolder)
        } catch {
            throw .file(error)
        }
        (generation, signer) = try await Self.install(path, into: folder.path.appending("inbox"))
        self.folder = folder
    }

    private static func install(
        _ path: FilePath, into inbox: FilePath
    ) async throws(ShipmentError) -> (Generation, DeviceIdentifier?) {
        let consumer = try Consumer(inbox: inbox)
        let signer = Mutex(DeviceIdentifier?.none)
        let receipt = try await consumer.receive(from: .file(path)) { report in
            if case .signed(let id) = report.event { signer.withLock { $0 = id } }
        }
        do throws(InboxError) {
            guard let generation = try consumer.inbox.current(of: receipt.name) else {
                throw .noSuchStore(receipt.name)
            }
            return (generation, signer.withLock { $0 })
        } catch {
            throw .install(error)
        }
    }
}
