import StoreFiles
import StoreOperations
import StoreSnapshot
public import SystemPackage

/// A file that tells of a store, a shipment or an inbox: it never takes the place of any of what it tells of.
package struct ReportFile: Sendable {
    package let path: FilePath
    private let artifact: Artifact
    /// What may be there and go; `nil` for any file.
    private let replaced: ResultFile.Kind?

    /// What stands at the path already, and may go.
    package enum Overwriting: Hashable, Sendable {
        /// Older reports.
        case reports
        /// Any file.
        case anything
    }

    /// - Parameter start: What all reports of this kind begin with.
    /// - Throws: `.report`, or `.operation(.kept)` in an inbox or a folder of kept copies, before anything is written.
    package init(
        _ path: FilePath, about artifact: Artifact, beginning start: [UInt8], over overwriting: Overwriting
    ) throws(ShipmentError) {
        self.path = path
        self.artifact = artifact
        replaced = overwriting == .anything ? nil : ResultFile.Kind(beginning: start)
        try check()
    }

    /// Durably and in one step.
    package func write(_ bytes: [UInt8]) throws(ShipmentError) {
        // What stands there may have come meanwhile.
        try check()
        let isInPlace: Bool
        do throws(FileError) {
            let file = try ResultFile(path, replacing: replaced)
            try file.write(bytes)
            isInPlace = try file.finish()
        } catch {
            throw .file(error)
        }
        guard isInPlace else { throw .report(.inTheWay(path)) }
    }

    private func check() throws(ShipmentError) {
        do throws(OperationError) {
            try NamedStore(path).home.refuseIfKept(.replace)
        } catch {
            throw .operation(error)
        }
        if isPartOfArtifact { throw .report(.partOfSubject(path)) }
        guard ResultFile.mayTake(path, replacing: replaced) else { throw .report(.inTheWay(path)) }
    }

    private var isPartOfArtifact: Bool {
        switch artifact {
        case .store(let store): (try? SourceStore(at: store))?.owns(path) ?? false
        case .shipment(let shipment):
            (try? PlatformCalls.statusFollowingLinks(of: path))?.identity
                == (try? PlatformCalls.statusFollowingLinks(of: shipment))?.identity
        // What is in these is kept.
        case .inbox, .generation: false
        }
    }
}

/// Why a report is not written.
public enum ReportError: Error, Hashable, Sendable {
    /// It would destroy what it tells of, or a part of it.
    case partOfSubject(FilePath)
    /// Something else is there already.
    case inTheWay(FilePath)
}

extension ReportError {
    var explanation: Explanation {
        switch self {
        case .partOfSubject(let path):
            Explanation(
                "\(path) belongs to what is inspected, and would be destroyed", hint: "name another file")
        case .inTheWay(let path):
            Explanation(
                "\(path) is there already, and is no page of this program",
                hint: "name another file, or say --force to replace this one")
        }
    }
}
