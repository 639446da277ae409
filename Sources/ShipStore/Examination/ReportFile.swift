import StoreFiles
import StoreOperations
import StoreSnapshot
package import SystemPackage

/// A report on a store, a shipment or an inbox. It never replaces a part of what it describes.
package struct ReportFile: Sendable {
    package let path: FilePath
    private let artifact: Artifact
    /// The kind of file that it may replace; `nil` for any file.
    private let replaced: ResultFile.Kind?

    /// - Parameter start: What all reports of this kind begin with, which may be replaced; `nil` to replace any file.
    /// - Throws: `.report`, or `.operation(.kept)` in an inbox or a folder of kept copies, before anything is written.
    package init(_ path: FilePath, about artifact: Artifact, replacing start: [UInt8]?) throws(ShipmentError) {
        self.path = path
        self.artifact = artifact
        replaced = start.map { ResultFile.Kind(beginning: $0) }
        try check()
    }

    /// Writes the report durably and in one step.
    package func write(_ bytes: [UInt8]) throws(ShipmentError) {
        // A file may have come there meanwhile.
        try check()
        let isInPlace = try ShipmentError.wrapping {
            let file = try ResultFile(path, replacing: replaced)
            try file.write(bytes)
            return try file.finish()
        }
        guard isInPlace else { throw .report(.inTheWay(path)) }
    }

    private func check() throws(ShipmentError) {
        try ShipmentError.wrapping { try NamedStore(path).home.refuseIfKept(.write) }
        if isPartOfArtifact { throw .report(.partOfSubject(path)) }
        guard ResultFile.mayTake(path, replacing: replaced) else { throw .report(.inTheWay(path)) }
    }

    private var isPartOfArtifact: Bool {
        switch artifact {
        case .store(let store): (try? SourceStore(at: store))?.owns(path) ?? false
        case .shipment(let shipment):
            (try? PlatformCalls.statusFollowingLinks(of: path))?.identity
                == (try? PlatformCalls.statusFollowingLinks(of: shipment))?.identity
        // `refuseIfKept` protects the files in these.
        case .inbox, .generation: false
        }
    }
}
