import NIOPosix
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage

/// A shipment that becomes a file: in a hidden folder while it is written, under its own name once it is whole and on the
/// medium. It takes the place of another shipment in one step, and of nothing else unless that was said.
final class FileSink: LinkSink {
    private let path: FilePath
    private let overwriting: LinkOptions.Overwriting
    private let partial: OpenFile
    /// Until the file is finished or abandoned.
    private let place: Mutex<TemporaryFolder?>

    /// Makes the file, for its owner only, in a folder beside `path`, where it also sweeps what killed senders left.
    ///
    /// - Throws: `.inTheWay`, `.file`.
    init(_ path: FilePath, over overwriting: LinkOptions.Overwriting) throws(LinkError) {
        self.path = path
        self.overwriting = overwriting
        try Self.check(path, over: overwriting)
        do throws(FileError) {
            let place = try TemporaryFolder(in: Self.folder(of: path), .besideResults)
            partial = try OpenFile.creating(place.path.appending("shipment"))
            self.place = Mutex(place)
        } catch {
            throw .file(error)
        }
    }

    /// - Throws: `.inTheWay`.
    static func check(_ path: FilePath, over overwriting: LinkOptions.Overwriting) throws(LinkError) {
        if overwriting == .shipments, occupant(of: path) == .other { throw .inTheWay(path) }
    }

    /// What has the name that the file is to get.
    private enum Occupant: Hashable { case nothing, shipment, other }

    private static func occupant(of path: FilePath) -> Occupant {
        guard let status = try? PlatformCalls.statusFollowingLinks(of: path) else {
            return (try? PlatformCalls.status(of: path)) == nil ? .nothing : .other
        }
        guard status.kind == .file, let file = try? OpenFile.reading(path),
            let bytes = try? file.read(Preamble.size, at: 0), Preamble.begins(bytes)
        else { return .other }
        return .shipment
    }

    private static func folder(of path: FilePath) -> FilePath {
        let folder = path.removingLastComponent()
        return folder.isEmpty ? "." : folder
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        try await LinkThreads.whileBlocking { [self] () throws(FileError) in try partial.write(bytes) }
    }

    func finish() async throws(LinkError) {
        guard place.withLock({ $0 != nil }) else { return }
        let isInPlace = try await LinkThreads.whileBlocking { [self] () throws(FileError) in
            try partial.sync()
            guard try takePlace() else { return false }
            abandon()
            try Folder.sync(Self.folder(of: path))
            return true
        }
        guard isInPlace else { throw .inTheWay(path) }
    }

    /// What stands there may have come while the shipment was written.
    ///
    /// - Returns: `false` if it must stay.
    private func takePlace() throws(FileError) -> Bool {
        switch (overwriting, Self.occupant(of: path)) {
        case (.shipments, .other): return false
        case (.shipments, .nothing):
            do throws(FileError) {
                // Unlike a renaming, it never takes the place of anything.
                try PlatformCalls.hardLink(partial.path, as: path)
            } catch {
                guard error.errno != .fileExists else { return false }
                try PlatformCalls.rename(partial.path, to: path)
            }
        case (.shipments, .shipment), (.anything, _): try PlatformCalls.rename(partial.path, to: path)
        }
        return true
    }

    /// Removes the folder, and what was written unless it is finished.
    func abandon() {
        place.withLock { $0 = nil }
    }
}
