import EssentialFoundation
import NIOCore
import NIOPosix
package import ShipLinks
import ShipProtocol
import StoreFiles
import SystemPackage

extension Listener {
    /// Listens until a handler returns `false`, or the task is cancelled, and handles each connection in a child task of its own.
    ///
    /// For a name, it listens at one of its addresses, an IPv4 address if there is one. When a handler returns, its link is closed in an
    /// orderly way. A connection that fails or is slow delays no other one, as long as there are fewer than `options.maximumConnections`.
    ///
    /// - Parameters:
    ///   - endpoint: TCP, with port 0 for a port that the system chooses, or a Unix socket. The file of a socket whose listener is gone
    ///     is replaced; only its owner may connect to it (0600), and it is removed at the end.
    ///   - onListening: Called with the address, and its real port, once connections are accepted.
    ///   - onTurnedAway: Called with the address of a peer that got no link, and why.
    ///   - handler: Returns whether the listener goes on. If not, it closes that link in an orderly way, cuts the others off, and ends.
    /// - Throws: `LinkError` when it cannot listen, or no longer; returns when cancelled.
    package nonisolated(nonsending) static func serve(
        on endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
        onListening: (Endpoint) -> Void = { _ in },
        onTurnedAway: @escaping @Sendable (Endpoint, LinkError) -> Void = { _, _ in },
        handler: @escaping @Sendable (PeerLink) async -> Bool
    ) async throws(LinkError) {
        switch endpoint {
        case .tcp(let host, let port):
            let addresses = try await SocketAddress.resolve(
                host, port: port, onlyHere: options.security.isPlain, within: options.connectTimeout)
            guard let address = addresses.first(where: { $0.protocol == .inet }) ?? addresses.first else { return }
            let listener = Listener(.tcp, at: endpoint, options, onTurnedAway)
            let channel = try await open(Endpoint(address) ?? endpoint) {
                listener.bootstrap().bind(to: address)
            }
            let bound = channel.localAddress.flatMap(Endpoint.init) ?? endpoint
            try await serve(listener, channel, bound, options, onListening, handler)
        case .unix(let path):
            try SocketFile.checkFolderIsPrivate(path)
            try await SocketFile.checkIsFree(path)
            try await SocketFile.removeLeft(beside: path)
            let provisional = try SocketFile.provisionalName(for: path)
            let listener = Listener(.unix, at: endpoint, options, onTurnedAway)
            let channel = try await open(endpoint) {
                listener.bootstrap().bind(unixDomainSocketPath: provisional.text)
            }
            let file: SocketFile
            do throws(FileError) {
                file = try SocketFile(naming: provisional, path)
            } catch {
                try? await channel.close()
                throw .file(error)
            }
            defer { file.remove() }
            try await serve(listener, channel, endpoint, options, onListening, handler)
        case .standardStreams, .command, .file, .folder, .web, .bucket:
            throw .io(.notSupported)
        }
    }

    private static func open(
        _ endpoint: Endpoint, _ bind: () -> EventLoopFuture<any Channel>
    ) async throws(LinkError) -> any Channel {
        do {
            return try await bind().get()
        } catch {
            throw LinkError(opening: endpoint, error)
        }
    }

    private nonisolated(nonsending) static func serve(
        _ listener: Listener, _ channel: any Channel, _ endpoint: Endpoint, _ options: LinkOptions,
        _ onListening: (Endpoint) -> Void, _ handler: @escaping @Sendable (PeerLink) async -> Bool
    ) async throws(LinkError) {
        listener.follow(channel)
        onListening(endpoint)
        await withDiscardingTaskGroup { group in
            for await connection in listener.connections {
                let link = OpenLink.over(connection, to: connection.remoteEndpoint ?? endpoint, options)
                group.addTask {
                    let goesOn = await handler(link.link)
                    await link.close()
                    listener.isDone(with: connection, isLast: !goesOn)
                    if !goesOn { channel.close(promise: nil) }
                }
            }
            try? await channel.close()
            group.cancelAll()
        }
        let isDone = await listener.closeConnections()
        // Otherwise NIO has closed the socket, after an error of accept(2) that waiting does not cure.
        guard Task.isCancelled || isDone else { throw .io(.ioError) }
    }
}

/// The file of a listening Unix socket. When it appears, the socket accepts connections, from this user only.
struct SocketFile: Sendable {
    private let path: FilePath
    private let status: FileStatus

    /// How long another listener on the same path may take to answer.
    private static let answerTime = Duration.seconds(2)

    static func checkLength(of path: FilePath) throws(LinkError) {
        let limit = PlatformCalls.longestSocketPath
        guard path.text.utf8.count <= limit else { throw .pathTooLong(path, limit: limit) }
    }

    /// - Throws: `.folderIsOpen` unless the folder is this user's own and closed to all others: another user who may write to it could
    ///   replace the socket.
    static func checkFolderIsPrivate(_ path: FilePath) throws(LinkError) {
        try checkLength(of: path)
        let folder = Folder.parent(of: path)
        let others: FilePermissions = [.groupReadWriteExecute, .otherReadWriteExecute]
        let status = try LinkError.wrapping { () throws(FileError) in
            do throws(FileError) {
                let status = try PlatformCalls.statusFollowingLinks(of: folder)
                if status.kind == .folder { return status }
            } catch  where error.errno != .notDirectory {
                throw error
            } catch {}
            throw FileError(.makeFolderIn, folder, .notDirectory)
        }
        guard status.owner == PlatformCalls.effectiveUser, status.permissions.isDisjoint(with: others) else {
            throw .folderIsOpen(folder)
        }
    }

    /// - Throws: `.addressInUse`, `.notASocket`, `.pathTooLong` or `.file`, unless the path is free, or holds a socket whose listener
    ///   is gone, which may be replaced.
    static func checkIsFree(_ path: FilePath) async throws(LinkError) {
        try checkLength(of: path)
        guard let status = try? PlatformCalls.status(of: path) else { return }
        guard status.kind == .socket else { throw .notASocket(path) }
        var options = LinkOptions()
        options.connectTimeout = answerTime
        options.lingerTime = .zero
        do throws(LinkError) {
            try await OpenLink.toSocketFile(path, options).close()
        } catch {
            switch error {
            case .refused, .unreachable: return
            case .cancelled: throw error
            default: throw .addressInUse(.unix(path))
            }
        }
        throw .addressInUse(.unix(path))
    }

    /// A free path beside `path` for bind(2): the socket gets its own path only once its mode keeps other users out.
    ///
    /// - Throws: `.addressInUse` where listeners that were killed have left all of them, until those may be removed.
    static func provisionalName(for path: FilePath) throws(LinkError) -> FilePath {
        let (folder, start) = (path.removingLastComponent(), provisionalStart(for: path))
        let names = (0x100...0x1FF).shuffled().lazy.map { folder.appending(start + String($0, radix: 16).suffix(2)) }
        guard let name = names.first(where: { (try? PlatformCalls.status(of: $0)) == nil }) else {
            throw .addressInUse(.unix(path))
        }
        try checkLength(of: name)
        return name
    }

    /// Two digits tell of which path it is, and two more tell those of one path apart.
    private static func provisionalStart(for path: FilePath) -> String {
        ".s" + ContentDigest(hashing: Array(path.lastName.utf8)).hex.prefix(2)
    }

    /// A listener has its socket under the provisional name for less than this.
    private static let provisionalTime = Duration.seconds(60)

    /// Removes the sockets of listeners on this path that were killed before they had given them its name. A socket that is younger may not
    /// listen yet.
    ///
    /// - Throws: `.cancelled`.
    static func removeLeft(beside path: FilePath) async throws(LinkError) {
        let (parent, start) = (Folder.parent(of: path), provisionalStart(for: path))
        for name in (try? Folder.names(in: parent)) ?? []
        where name.hasPrefix(start) && name.utf8.count == start.utf8.count + 2 {
            let left = parent.appending(text: name)
            guard name.suffix(2).allSatisfy(\.isHexDigit),
                let status = try? PlatformCalls.status(of: left), status.kind == .socket,
                status.owner == PlatformCalls.effectiveUser,
                PlatformCalls.timeOfDay - status.modified > provisionalTime
            else { continue }
            do throws(LinkError) {
                try await checkIsFree(left)
                try? PlatformCalls.removeFile(left)
            } catch {
                if error == .cancelled { throw error }
            }
        }
    }

    /// Renames the socket that is bound to `provisional`, and replaces a socket whose listener is gone.
    init(naming provisional: FilePath, _ path: FilePath) throws(FileError) {
        do throws(FileError) {
            try PlatformCalls.changeMode(of: provisional, to: .ownerReadWrite)
            status = try PlatformCalls.status(of: provisional)
            // A file that appeared since `checkIsFree` is another program's.
            let kind = (try? PlatformCalls.status(of: path))?.kind
            guard kind == nil || kind == .socket else { throw FileError(.rename, path, .fileExists) }
            try PlatformCalls.rename(provisional, to: path)
        } catch {
            try? PlatformCalls.removeFile(provisional)
            throw error
        }
        self.path = path
    }

    /// Removes the file, unless another listener has replaced it.
    func remove() {
        guard let current = try? PlatformCalls.status(of: path), current.inode == status.inode,
            current.device == status.device
        else { return }
        try? PlatformCalls.removeFile(path)
    }
}
