import EssentialFoundation
import ShipProtocol
import StoreFiles
import StoreInbox
public import SystemPackage

/// What a path leads to, of the things that this program makes or takes.
public enum Artifact: Hashable, Sendable {
    case inbox(FilePath)
    /// The folder of a generation.
    case generation(FilePath)
    /// A shipment that was kept in a file.
    case shipment(FilePath)
    /// A SQLite store, or what is to be one.
    case store(FilePath)

    /// Opens a file for a moment, to tell a shipment from a store. Not for a store that this very process has open: on
    /// closing, the locks of its SQLite connections would go (sqlite.org/howtocorrupt.html section 2.2).
    ///
    /// - Throws: `ShipmentError.source(.noSuchFile)`, or `.source(.folder)` for a folder that is neither.
    public init(at path: FilePath) throws(ShipmentError) {
        guard let status = try? PlatformCalls.statusFollowingLinks(of: path) else { throw .source(.noSuchFile(path)) }
        guard status.kind == .folder else {
            let start = try? OpenFile.reading(path).read(Preamble.size, at: 0)
            // SQLite takes an empty file for a store; a shipment of which nothing is left is none.
            let isCutOff = start?.isEmpty == true && path.extension == "shipment"
            self = isCutOff || start.map(Preamble.begins) == true ? .shipment(path) : .store(path)
            return
        }
        if (try? PlatformCalls.status(of: path.appending(".ship-store")))?.kind == .folder {
            self = .inbox(path)
        } else if (try? PlatformCalls.status(of: path.appending(InboxLayout.manifestFile)))?.kind == .file {
            self = .generation(path)
        } else {
            throw .source(.folder(path))
        }
    }
}
