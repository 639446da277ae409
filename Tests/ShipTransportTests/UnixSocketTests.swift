import Foundation
import NIOCore
import NIOPosix
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipTransport

@Suite struct `A Unix socket` {
    @Test func `carries bytes both ways, is for its owner only, and goes with its listener`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("s")
        try await withListener(on: .unix(path), handler: echo) { address in
            #expect(address == .unix(path))
            let status = try PlatformCalls.status(of: path)
            #expect(status.kind == .socket && status.permissions == .ownerReadWrite)
            try await PeerLink.withLink(to: address) { link throws in
                try await link.writer.write(pattern(50_000), within: patience)
                try await link.writer.finish()
                let reader = link.reader
                #expect(try await reader.all() == pattern(50_000))
            }
        }
        #expect(try Folder.names(in: folder.path).isEmpty)
    }

    @Test func `that nobody listens on is replaced, and refuses until then`() async {
        // In a process of its own: NIO's sockets are inherited by whatever another test starts meanwhile.
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let path = folder.path.appending("s")
            let provisional = folder.path.appending("t")
            let dead = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(unixDomainSocketPath: provisional.string).get()
            // Under its first name NIO would remove it.
            try PlatformCalls.rename(provisional, to: path)
            try? await dead.close()
            await #expect(throws: LinkError.refused(.unix(path))) {
                try await PeerLink.withLink(to: .unix(path)) { _ in }
            }
            try await withListener(on: .unix(path), handler: echo) { address in
                try await PeerLink.withLink(to: address) { _ in }
            }
            #expect(try Folder.names(in: folder.path).isEmpty)
        }
    }

    @Test func `that never got its name is removed once it cannot get it any more`() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let path = folder.path.appending("s")
            let start = try SocketFile.provisionalName(for: path).lastName.dropLast(2)
            let others = try SocketFile.provisionalName(for: folder.path.appending("t")).lastName
            let names = ["old", "\(start)00", "\(start)01", others]
            for name in names {
                let dead = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .bind(unixDomainSocketPath: folder.path.appending("first").string).get()
                try PlatformCalls.rename(folder.path.appending("first"), to: folder.path.appending(name))
                try? await dead.close()
            }
            let file = folder.path.appending("\(start)02")
            try OpenFile.creating(file).write([1])
            for name in names + ["\(start)02"] where name != "\(start)01" {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -120)],
                    ofItemAtPath: folder.path.appending(name).string)
            }
            try await withListener(on: .unix(path), handler: echo) { _ in }
            let left = try Folder.names(in: folder.path).sorted()
            #expect(left == ["old", "\(start)01", "\(start)02", others].sorted())
        }
    }

    @Test func `gets its name by the one that listeners which were killed have left free, if there is one`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("s")
        let free = try SocketFile.provisionalName(for: path)
        for digits in 0x100...0x1FF {
            let name = free.lastName.dropLast(2) + String(digits, radix: 16).suffix(2)
            if name != free.lastName { try OpenFile.creating(folder.path.appending(String(name))).write([]) }
        }
        try await withListener(on: .unix(path), handler: echo) { _ in }
        try OpenFile.creating(free).write([])
        await #expect(throws: LinkError.addressInUse(.unix(path))) {
            try await Listener.serve(on: .unix(path)) { _ in true }
        }
        #expect(try Folder.names(in: folder.path).count == 256)
    }

    @Test func `that somebody listens on is left to them`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("s")
        try await withListener(on: .unix(path), handler: echo) { address in
            await #expect(throws: LinkError.addressInUse(address)) {
                try await Listener.serve(on: address) { _ in true }
            }
            try await PeerLink.withLink(to: address) { _ in }
        }
    }

    @Test func `is not what every file is`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("notes")
        try OpenFile.creating(path).write([1, 2, 3])
        await #expect(throws: LinkError.notASocket(path)) { try await Listener.serve(on: .unix(path)) { _ in true } }
        await #expect(throws: LinkError.notASocket(path)) { try await PeerLink.withLink(to: .unix(path)) { _ in } }
        #expect(try OpenFile.reading(path).size == 3)
        let missing = folder.path.appending("missing")
        await #expect(throws: LinkError.unreachable(.unix(missing), .noSuchFileOrDirectory)) {
            try await PeerLink.withLink(to: .unix(missing)) { _ in }
        }
    }

    @Test func `is not opened in a folder that others can get at`() async throws {
        let folder = try TemporaryFolder()
        for mode: FilePermissions in [.groupExecute, .otherWrite, .otherRead] {
            try PlatformCalls.changeMode(of: folder.path, to: [.ownerReadWriteExecute, mode])
            await #expect(throws: LinkError.folderIsOpen(folder.path)) {
                try await Listener.serve(on: .unix(folder.path.appending("s"))) { _ in true }
            }
            #expect(try Folder.names(in: folder.path).isEmpty)
        }
    }

    @Test(.enabled(if: PlatformCalls.effectiveUser == 0, "only root can become somebody else"))
    func `turns another user away, even where the file system would not`() async throws {
        let folder = try ScratchFolder(in: "/tmp")
        let path = folder.path.appending("s")
        let turnedAway = Mutex<[LinkError]>([])
        let handled = Mutex(0)
        try await withListener(
            on: .unix(path), onTurnedAway: { _, error in turnedAway.withLock { $0.append(error) } },
            handler: { link in
                handled.withLock { $0 += 1 }
                await echo(link)
            },
            { address in
                let asOther = { (script: String) async throws in
                    try await ChildProgram(
                        "/usr/bin/setpriv",
                        ["--reuid", "65534", "--clear-groups", "/usr/bin/python3", "-c", script, path.string]
                    ).wait()
                }
                let script = """
                    import socket, sys
                    s = socket.socket(socket.AF_UNIX)
                    s.connect(sys.argv[1])
                    try:
                        s.sendall(b'hello')
                        print(s.recv(10))
                    except OSError: print(b'')
                    """
                #expect(try await asOther(script).stderr.contains("PermissionError"))
                try PlatformCalls.changeMode(of: folder.path, to: .init(rawValue: 0o777))
                try PlatformCalls.changeMode(of: path, to: .init(rawValue: 0o777))
                #expect(try await asOther(script).stdout == "b''\n")
                #expect(handled.withLock { $0 } == 0)
            })
        #expect(turnedAway.withLock { $0 } == [.otherUser(65_534)])
    }

    @Test func `has a path of limited length`() async throws {
        let path = FilePath("/" + String(repeating: "a", count: PlatformCalls.longestSocketPath))
        let reason = LinkError.pathTooLong(path, limit: PlatformCalls.longestSocketPath)
        await #expect(throws: reason) { try await PeerLink.withLink(to: .unix(path)) { _ in } }
        await #expect(throws: reason) { try await Listener.serve(on: .unix(path)) { _ in true } }
    }
}
