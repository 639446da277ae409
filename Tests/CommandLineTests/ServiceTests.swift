import Foundation
import SystemPackage
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
    private let datagram = Int32(SOCK_DGRAM.rawValue)
    private let withoutWaiting = Int32(MSG_DONTWAIT)
#elseif canImport(Musl)
    import Musl
    private let datagram = SOCK_DGRAM
    private let withoutWaiting = MSG_DONTWAIT
#elseif canImport(Darwin)
    import Darwin
    private let datagram = SOCK_DGRAM
    private let withoutWaiting = MSG_DONTWAIT
#endif

/// The units of systemd, run as systemd would, in front of a socket of ours in the place of its own.
@Suite struct ServiceTests {
    private let desk: Desk
    private let manager: NoticeSocket

    init() throws {
        desk = try Desk()
        manager = try NoticeSocket(at: desk.path.appending("notices"))
        try desk.makeStore()
    }

    /// - Returns: The words of the unit's command after the program, with its variables put in.
    private static func command(of unit: String, _ given: [String: String]) throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let lines = try String(
            contentsOf: root.appending(path: "Packaging/systemd/\(unit).service"), encoding: .utf8
        ).split(separator: "\n")
        func values(_ name: String) -> [Substring] {
            lines.filter { $0.hasPrefix("\(name)=") }.flatMap {
                $0.dropFirst(name.count + 1).split(separator: " ")
            }
        }
        var variables: [String: String] = [:]
        for pair in values("Environment") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            variables[String(parts[0])] = String(parts[1])
        }
        variables.merge(given) { $1 }
        #expect(values("Type") == ["notify"])
        let words = values("ExecStart")
        #expect(words.first == "ship-store")
        return words.dropFirst().flatMap { word -> [String] in
            guard word.hasPrefix("$") else { return [String(word)] }
            let name = word.dropFirst().trimmingPrefix("{").prefix { $0 != "}" }
            let value = variables[String(name), default: "NOT SET"]
            return word.hasPrefix("${") ? [value] : value.split(separator: " ").map(String.init)
        }
    }

    private func start(_ unit: String, _ variables: [String: String], watchdog: Int? = nil) throws -> ChildProgram {
        let told = ["NOTIFY_SOCKET=\(manager.path)"] + (watchdog.map { ["WATCHDOG_USEC=\($0)"] } ?? [])
        return try desk.start(Self.command(of: unit, variables), through: told, input: .nothing)
    }

    @Test func `a receiver says when it listens, that it lives, and that it stops`() async throws {
        let receiver = try start(
            "ship-store-receive", ["INBOX": "inbox", "LISTEN": "unix:here.sock", "OPTIONS": "--keep 3 --json"],
            watchdog: 200_000)
        try await desk.waitUntil { try manager.received().filter { $0 == "WATCHDOG=1" }.count > 2 }
        // It could not connect before.
        #expect(try manager.received().contains("READY=1"))
        try await desk.run("send", "Recipes.sqlite", "--to", "unix:here.sock").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        receiver.signal(SIGTERM)
        #expect(try await receiver.wait().status == .exited(0))
        #expect(try manager.received().contains("STOPPING=1"))
    }

    @Test func `a sender that follows says that it has begun`() async throws {
        let receiver = try await desk.listen(on: "unix:here.sock")
        let sender = try start("ship-store-send@", ["STORE": "Recipes.sqlite", "TO": "unix:here.sock"])
        try await desk.waitUntil { try manager.received() == ["READY=1"] }
        try await desk.waitUntil { (try? desk.hasInstalled("Recipes", from: "Recipes.sqlite")) == true }
        sender.signal(SIGTERM)
        #expect(try await sender.wait().status == .exited(0))
        #expect(try manager.received() == ["READY=1", "STOPPING=1"])
        receiver.program.signal(SIGTERM)
    }

    @Test func `a command that cannot begin says nothing`() async throws {
        let receiver = try start(
            "ship-store-receive", ["INBOX": "inbox", "LISTEN": "unix:no/such/folder.sock"], watchdog: 60_000_000)
        #expect(try await receiver.wait().status != .exited(0))
        #expect(try !manager.received().contains("READY=1"))
    }
}

/// A datagram socket, in the place of the service manager's.
private final class NoticeSocket {
    let path: FilePath
    private let descriptor: Int32
    private var all: [String] = []

    init(at path: FilePath) throws {
        self.path = path
        descriptor = socket(AF_UNIX, datagram, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.string.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Errno(rawValue: errno) }
    }

    deinit { close(descriptor) }

    /// All that has come so far.
    func received() throws -> [String] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, withoutWaiting)
            guard count >= 0 else { return all }
            all.append(String(decoding: buffer[..<count], as: UTF8.self))
        }
    }
}
