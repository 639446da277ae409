public import DeviceTrust
import EssentialFoundation
public import ShipCompression
public import ShipProtocol
import StoreFiles
import StoreFormat
import StoreInbox
public import StoreServing
import StoreSnapshot
import SystemPackage

/// What is in a store, a shipment or a generation, and what it would cost to ship: `inspect`.
public struct Inspection: Sendable {
    public let manifest: Manifest
    /// The largest first.
    public let tables: [TableStatistics]
    /// What of it is not the app's data, the dearest first.
    public let ballast: [Ballast]
    /// Bytes that shipping all of it takes, into a file; measured, or, of a large store, estimated.
    public let cost: Int64
    /// Those of them that the external files take.
    public let externalCost: Int64
    /// The device that signed it, of a shipment in a file that is signed.
    public var signer: DeviceIdentifier?
    /// Bytes of the file itself, of a shipment in a file.
    public var fileSize: Int64?

    /// - Parameters:
    ///   - artifact: What is looked at.
    ///   - options: How a copy is taken.
    ///   - effort: With which effort it would be shipped.
    /// - Throws: If it cannot be read; for an inbox, if it has no store.
    public static func all(
        of artifact: Artifact, options: CopyOptions = CopyOptions(), effort: Effort = .auto
    ) async throws(ShipmentError) -> [Inspection] {
        do {
            var manner = OutgoingShipment.Manner()
            manner.effort = effort
            manner.selfCheck = .off
            manner.cores = ProcessInfo.processInfo.activeProcessorCount
            manner.codec = .standard
            switch artifact {
            case .inbox(let path):
                let inbox = Inbox(at: path)
                var inspections: [Inspection] = []
                for generation in try inbox.storeNames().compactMap({ try inbox.current(of: $0) }) {
                    inspections.append(try await inspect(generation, manner))
                }
                return inspections
            case .generation(let path): return [try await inspect(try Generation(at: path), manner)]
            case .shipment(let path): return try await inspectShipments(path, options, manner)
            case .store(let path):
                return [try await inspect(OutgoingShipment(try await PreparedCopy(of: path, options), manner))]
            }
        } catch {
            throw ShipmentError(error)
        }
    }

    private static func inspect(
        _ generation: Generation, _ manner: OutgoingShipment.Manner
    ) async throws -> Inspection {
        let manifest = generation.manifest
        return try await inspect(
            OutgoingShipment(
                manifest, at: manifest.parts.indices.map { generation.path(ofPart: $0) },
                try? IndexShapes.all(inCopyAt: generation.storePath), manner))
    }

    private static func inspectShipments(
        _ path: FilePath, _ options: CopyOptions, _ manner: OutgoingShipment.Manner
    ) async throws -> [Inspection] {
        let unpacked = try await UnpackedShipments(path, options.temporaryFolder)
        var inspections: [Inspection] = []
        for shipment in unpacked.all {
            var inspection = try await inspect(shipment.generation, manner)
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
        // By its rows, as it would be sent; by its pages where it cannot go by its rows.
        let costs: TableStatistics.Costs =
            if let tables = cost.tables {
                .byRows(parts(of: tables, in: shipment.path(ofPart: 0)))
            } else {
                .byPages { try EncodedSize.of($0, level: shipment.manner.effort.levelIntoFile) }
            }
        let copy = shipment.path(ofPart: 0)
        let tables = try TableStatistics.all(of: copy, costs: costs)
        let isCoreData = shipment.manifest.coreData != nil
        return Inspection(
            manifest: shipment.manifest, tables: tables,
            ballast: try Ballast.all(in: tables, ofCopyAt: copy, isCoreData: isCoreData), cost: cost.total,
            externalCost: cost.externalFiles)
    }

    /// - Parameter path: Of a copy that nobody changes.
    private static func parts(
        of tables: [String: TableCost], in path: FilePath
    ) -> [String: (total: Int64, parts: [TableStatistics.Part])] {
        // Without their names columns are told by number.
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
            // Records may have more values than their table has columns.
            .column(layout?.column(at: place).map { ForeignText($0) } ?? "(value \(place + 1))")
        }
    }
}
