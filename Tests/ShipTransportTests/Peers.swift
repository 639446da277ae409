import DeviceTrust
import NIOCore
import NIOPosix
import ShipTransport
import SystemPackage
import Testing

let patience = Duration.seconds(10)
let loopback = Endpoint.tcp(host: "127.0.0.1", port: 0)

/// Runs `body` while a listener serves, and gives it the address.
@discardableResult
func withListener<Value: Sendable>(
    on endpoint: Endpoint = loopback, _ options: LinkOptions = LinkOptions(),
    onTurnedAway: @escaping @Sendable (Endpoint, LinkError) -> Void = { _, _ in },
    handler: @escaping @Sendable (PeerLink) async -> Void,
    _ body: @Sendable @escaping (Endpoint) async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        let (addresses, continuation) = AsyncStream.makeStream(of: Endpoint.self)
        group.addTask {
            defer { continuation.finish() }
            try await Listener.serve(
                on: endpoint, options, onListening: { continuation.yield($0) }, onTurnedAway: onTurnedAway
            ) {
                await handler($0)
                return true
            }
            return nil
        }
        group.addTask {
            for await address in addresses { return try await body(address) }
            return nil
        }
        defer { group.cancelAll() }
        while let value = try await group.next() {
            if let value { return value }
        }
        throw LinkError.cancelled
    }
}

/// Sends back whatever comes, and ends when the other side does.
@Sendable func echo(_ link: PeerLink) async {
    let reader = link.reader
    while let piece = try? await reader.next(within: patience) {
        guard (try? await link.writer.write(piece, within: patience)) != nil else { return }
    }
    try? await link.writer.finish()
}

extension LinkReader {
    /// Everything up to the end of the peer's side.
    func all() async throws(LinkError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await next(within: patience) { bytes += piece }
        return bytes
    }
}

/// A listening socket that does with its connections what no link of ours does.
func withRawListener(
    backlog: Int32 = 128, accepting: Bool = true,
    onConnection: @escaping @Sendable (any Channel) -> Void = { _ in },
    _ body: (Endpoint) async throws -> Void
) async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.backlog, value: backlog)
        .serverChannelOption(.autoRead, value: accepting)
        .childChannelOption(.autoRead, value: false)
        .childChannelInitializer { channel in
            channel.eventLoop.execute { channel.eventLoop.execute { onConnection(channel) } }
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    do {
        try await body(.tcp(host: "127.0.0.1", port: port))
    } catch {
        try await server.close()
        throw error
    }
    try await server.close()
}

/// Bytes that show when some are lost or out of order.
func pattern(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count { bytes += block }
    bytes.removeLast(bytes.count - count)
    return bytes
}

/// Of a prime length, so that no shift by a piece goes unseen.
private let block: [UInt8] = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

/// Options that differ from the usual ones.
func linkOptions(_ change: (inout LinkOptions) -> Void) -> LinkOptions {
    var options = LinkOptions()
    change(&options)
    return options
}

/// Options of a device, and of whom it takes.
func secured(
    _ identity: DeviceIdentity, admitting admission: @escaping @Sendable (DeviceIdentifier) throws -> Bool
) -> LinkOptions {
    linkOptions { $0.security = .mutualTLS(identity) { try admission($0) ? .full : .refused } }
}
