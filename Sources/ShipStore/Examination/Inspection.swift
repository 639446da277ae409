public import DeviceTrust
import EssentialFoundation
public import ShipCompression
public import ShipProtocol
import StoreEncoding
import StoreFiles
import StoreFormat
import StoreInbox
public import StoreServing
import StoreSnapshot
import SystemPackage

/// The content of a store, a shipment or a generation, and the bytes that shipping it would take: `inspect`.
public struct Inspection: Sendable {
    public let manifest: Manifest
    /// The largest first.
    public let tables: [TableStatistics]
    /// Data that are not the app's own, the largest first.
    public let ballast: [Ballast]
    /// The bytes of a shipment of all of it, into a file: measured, or estimated for a large store.
    public let cost: Int64
    /// The bytes of `cost` that the external files take.
    public let externalCost: Int64
    /// The device that signed it, if it is a signed shipment in a file.
    public var signer: DeviceIdentifier?
    /// The size of the file, if it is a shipment in a file.
    public var fileSize: Int64?

    /// - Throws: If it cannot be read; for an inbox, if it has no store.
    public static func all(
        of artifact: Artifact, options: CopyOptions = CopyOptions(), effort: Effort = .auto,
        checking: CheckOptions = CheckOptions()
    ) async throws(ShipmentError) -> [Inspection] {
        try await ShipmentError.awaiting {
            var shipping = Producer.Options()
            shipping.effort = effort
            shipping.selfCheck = false
            shipping.copy = options
            shipping.checking = checking
            switch artifact {
            case .inbox(let path):
                let folder = try Inbox(at: path).open()
                var inspections: [Inspection] = []
                for name in try folder.storeNames() {
                    guard let generation = try folder.shownCurrent(of: name) else { continue }
                    // Neither a receiver nor `prune` removes it meanwhile.
                    let hold = try? FolderLock.takeSoon(.shared, on: generation.path)
                    inspections.append(try await inspect(generation, shipping))
                    withExtendedLifetime(hold) { _ in }
                }
                return inspections
            case .generation(let path): return [try await inspect(try Generation(at: path), shipping)]
            case .shipment(let path): return try await inspectShipments(path, shipping)
            case .store(let path):
                let copy = try await PreparedCopy(of: path, options)
                return [try await inspect(OutgoingShipment(StoreVersion(copy), shipping))]
            }
        }
    }

    private static func inspect(_ generation: Generation, _ shipping: Producer.Options) async throws -> Inspection {
        let manifest = generation.manifest
        let parts = manifest.parts.indices.map { generation.path(ofPart: $0) }
        let folder = try OpenFolder(following: generation.path)
        // Whoever opens a named pipe waits for another program.
        for part in parts {
            do throws(FileError) { _ = try folder.file(at: part) } catch { throw InboxError.file(error).asOfInbox }
        }
        let version = StoreVersion(manifest, at: parts, try? IndexShape.all(inCopyAt: generation.storePath))
        return try await inspect(OutgoingShipment(version, shipping))
    }

    private static func inspectShipments(_ path: FilePath, _ shipping: Producer.Options) async throws -> [Inspection] {
        let unpacked = try await UnpackedShipments(path, shipping.copy, shipping.checking)
        var inspections: [Inspection] = []
        for shipment in unpacked.all {
            var inspection = try await inspect(shipment.generation, shipping)
            inspection.signer = shipment.signer
            if unpacked.all.count == 1 {
                inspection.fileSize = try PlatformCalls.statusFollowingLinks(of: path).size
            }
            inspections.append(inspection)
        }
        return inspections
    }

    private static func inspect(_ shipment: OutgoingShipment) async throws -> Inspection {
        let cost = try await ShippingCost(of: shipment)
        let copy = shipment.path(ofPart: 0)
        // By rows, as it would be sent; by pages where it cannot be sent by rows.
        let tables = try TableStatistics.all(
            of: copy, rowCosts: cost.tables.map { parts(of: $0, in: copy) },
            pageCost: { try Deflate.encodedSize(of: $0, level: shipment.options.effort.levelIntoFile) })
        let isCoreData = shipment.manifest.coreData != nil
        return Inspection(
            manifest: shipment.manifest, tables: tables,
            ballast: try Ballast.all(in: tables, ofCopyAt: copy, isCoreData: isCoreData), cost: cost.total,
            externalCost: cost.externalFiles)
    }

    private static func parts(
        of tables: [String: TableCost], in path: FilePath
    ) -> [String: (total: Int64, parts: [TableStatistics.Part])] {
        // Columns without a known name are named by number.
        let layouts = (try? RecordLayout.all(inCopyAt: path)) ?? [:]
        var known: [String: (total: Int64, parts: [TableStatistics.Part])] = [:]
        for (table, cost) in tables {
            var kinds: [TableStatistics.Part.Kind: Int64] = [:]
            for (part, bytes) in cost.parts { kinds[kind(of: part, layouts[table]), default: 0] += bytes }
            known[table] = (cost.total, kinds.map { TableStatistics.Part($0.key, cost: $0.value) })
        }
        return known
    }

    private static func kind(of part: TablePart, _ layout: RecordLayout?) -> TableStatistics.Part.Kind {
        switch part {
        case .longRows: .longRows
        case .indexes: .indexes
        case .rowids: layout?.rowidColumn.map { .column(ForeignText($0)) } ?? .rowids
        case .value(let place):
            // A record may have more values than its table has columns.
            .column(layout?.column(at: place).map { ForeignText($0) } ?? "(value \(place + 1))")
        }
    }
}
