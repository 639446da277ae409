import ShipProtocol
import StoreFiles
import StoreInbox
public import SystemPackage

/// The kind of thing at a path, among those that this program makes or reads.
public enum Artifact: Hashable, Sendable {
    case inbox(FilePath)
    /// The folder of a generation.
    case generation(FilePath)
    /// A shipment that was kept in a file.
    case shipment(FilePath)
    /// A SQLite store, or any other file.
    case store(FilePath)

    /// Opens a file for a moment, to tell a shipment from a store. Not for a store that this process has open: closing the file
    /// drops the locks of its SQLite connections [sqlite.org/howtocorrupt.html section 2.2].
    ///
    /// - Throws: `ShipmentError.source(.noSuchFile)`, `.source(.notARegularFile)`, or `.source(.folder)` for any other folder.
    public init(at path: FilePath) throws(ShipmentError) {
        let kind: FileStatus.Kind
        do throws(FileError) {
            kind = try PlatformCalls.statusFollowingLinks(of: path).kind
            // So that a folder that is closed is not taken for an empty one.
            if kind == .folder { _ = try PlatformCalls.status(of: path.appending(".")) }
        } catch {
            throw .source(SnapshotError(finding: path, error))
        }
        guard kind == .folder else {
            // Whoever opens a named pipe waits for another program.
            guard kind == .file else { throw .source(.notARegularFile(path)) }
            let start = try? OpenFile.reading(path).read(Preamble.size, at: 0)
            // SQLite takes an empty file for a store, but this was to be a shipment.
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
