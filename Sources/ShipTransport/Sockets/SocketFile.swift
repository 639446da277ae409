import EssentialFoundation
import ShipLinks
import StoreFiles
import SystemPackage

/// The name of a listening Unix socket in the file system. It appears with the socket behind it and closed to other
/// users.
struct SocketFile: Sendable {
    private let path: FilePath
    private let status: FileStatus

    /// How long a listener that may be there has time to answer.
    private static let answerTime = Duration.seconds(2)

    static func checkLength(of path: FilePath) throws(LinkError) {
        let limit = PlatformCalls.longestSocketPath
        guard path.string.utf8.count <= limit else { throw .pathTooLong(path, limit: limit) }
    }

    /// - Throws: `.folderIsOpen` unless the folder is this user's own and closed to all others: whoever may write to it
    ///   could put a socket of theirs in the place of ours.
    static func checkFolderIsPrivate(_ path: FilePath) throws(LinkError) {
        try checkLength(of: path)
        let parent = path.removingLastComponent()
        let folder: FilePath = parent.isEmpty ? "." : parent
        let others: FilePermissions = [.groupReadWriteExecute, .otherReadWriteExecute]
        let status = try LinkError.ofFile { () throws(FileError) in
            try PlatformCalls.statusFollowingLinks(of: folder)
        }
        guard status.owner == PlatformCalls.effectiveUser, status.permissions.isDisjoint(with: others) else {
            throw .folderIsOpen(folder)
        }
    }

    /// - Throws: Unless the path is free, or holds a socket on which nobody listens any more, which may be replaced:
    ///   `.addressInUse`, `.notASocket`, `.pathTooLong`, `.file`.
    static func checkIsFree(_ path: FilePath) async throws(LinkError) {
        try checkLength(of: path)
        guard let status = try? PlatformCalls.status(of: path) else { return }
        guard status.kind == .socket else { throw .notASocket(path) }
        var options = LinkOptions()
        options.connectTimeout = answerTime
        options.lingerTime = .zero
        do throws(LinkError) {
            try await SocketConnection.toSocketFile(path, options).close()
        } catch {
            switch error {
            case .refused, .unreachable: return
            case .cancelled: throw error
            default: throw .addressInUse(.unix(path))
            }
        }
        throw .addressInUse(.unix(path))
    }

    /// A name beside `path` on which to bind, before the socket gets its own: so nobody sees it while it is open to all.
    static func provisionalName(for path: FilePath) throws(LinkError) -> FilePath {
        let name = path.removingLastComponent().appending(".s" + UUID().uuidString.prefix(4))
        try checkLength(of: name)
        return name
    }

    /// Gives the socket that is bound to `provisional` its name, in place of a socket that nobody listens on.
    init(naming provisional: FilePath, _ path: FilePath) throws(FileError) {
        do throws(FileError) {
            try PlatformCalls.changeMode(of: provisional, to: .ownerReadWrite)
            status = try PlatformCalls.status(of: provisional)
            // What has come there since the look at it is somebody else's.
            let kind = (try? PlatformCalls.status(of: path))?.kind
            guard kind == nil || kind == .socket else { throw FileError(.rename, path, .fileExists) }
            try PlatformCalls.rename(provisional, to: path)
        } catch {
            try? PlatformCalls.removeFile(provisional)
            throw error
        }
        self.path = path
    }

    /// Removes the name, unless another listener has taken it.
    func remove() {
        guard let current = try? PlatformCalls.status(of: path), current.inode == status.inode,
            current.device == status.device
        else { return }
        try? PlatformCalls.removeFile(path)
    }
}
