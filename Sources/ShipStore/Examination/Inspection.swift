public import DeviceTrust
import ShipCompression
public import ShipProtocol
import StoreFiles
import StoreInbox
public import StoreServing
import StoreSnapshot
import SystemPackage

/// What is in a store, a shipment or a generation, and what it would cost to ship: `inspect`.
public struct Inspection: Sendable {
    public let manifest: Manifest
    /// The largest first.
    public let tables: [TableStatistics]
    /// The device that signed it, of a shipment in a file that is signed.
    public var signer: DeviceIdentifier?

    /// - Throws: If it cannot be read; for an inbox, if it has no store.
    public static func all(
        of artifact: Artifact, options: CopyOptions = CopyOptions()
    ) async throws(ShipmentError) -> [Inspection] {
        do {
            switch artifact {
            case .inbox(let path):
                let inbox = Inbox(at: path)
                return try inbox.storeNames().compactMap { try inbox.current(of: $0) }.map(inspect)
            case .generation(let path): return [try inspect(try Generation(at: path))]
            case .shipment(let path): return [try await inspectShipment(path, options)]
            case .store(let path): return [try await inspectStore(path, options)]
            }
        } catch {
            throw ShipmentError(error)
        }
    }

    private static func inspect(_ generation: Generation) throws -> Inspection {
        Inspection(manifest: generation.manifest, tables: try tables(of: generation.storePath))
    }

    private static func inspectShipment(_ path: FilePath, _ options: CopyOptions) async throws -> Inspection {
        let unpacked = try await UnpackedShipment(path, options.temporaryFolder)
        var inspection = try inspect(unpacked.generation)
        inspection.signer = unpacked.signer
        return inspection
    }

    private static func inspectStore(_ path: FilePath, _ options: CopyOptions) async throws -> Inspection {
        let copy = try await PreparedCopy(of: path, options)
        return Inspection(manifest: copy.manifest, tables: try tables(of: copy.path(ofPart: 0)))
    }

    private static func tables(of path: FilePath) throws -> [TableStatistics] {
        // By its rows, as it would be sent; by its pages where it cannot go by its rows.
        let shapes = try? IndexShapes.all(inCopyAt: path)
        if let shapes, let costs = try? TableCosts.byRows(over: PageFile(reading: path), shapes: shapes) {
            return try TableStatistics.all(of: path, costs: .byRows(costs))
        }
        return try TableStatistics.all(of: path, costs: .byPages { try EncodedSize.of($0) })
    }
}
