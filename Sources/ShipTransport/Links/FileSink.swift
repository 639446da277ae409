import NIOPosix
import StoreFiles
import Synchronization
import SystemPackage

/// A shipment that becomes a file: in a hidden folder while it is written, under its own name once it is whole and on the
/// medium.
final class FileSink: LinkSink {
    private let path: FilePath
    private let partial: OpenFile
    /// Until the file is finished or abandoned.
    private let place: Mutex<TemporaryFolder?>

    /// Makes the file, for its owner only, in a folder beside `path`, where it also sweeps what killed senders left.
    init(_ path: FilePath) throws(FileError) {
        self.path = path
        let place = try TemporaryFolder(in: Self.folder(of: path), .besideResults)
        partial = try OpenFile.creating(place.path.appending("shipment"))
        self.place = Mutex(place)
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
        try await LinkThreads.whileBlocking { [self] () throws(FileError) in
            try partial.sync()
            try PlatformCalls.rename(partial.path, to: path)
            abandon()
            try Folder.sync(Self.folder(of: path))
        }
    }

    /// Removes the folder, and what was written unless it is finished.
    func abandon() {
        place.withLock { $0 = nil }
    }
}
