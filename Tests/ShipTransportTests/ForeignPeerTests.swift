import DeviceTrust
import NIOCore
import NIOPosix
import ShipTransport
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// What other programs can do with a listener: be turned away.
@Suite struct `A listener between devices` {
    private let (server, client): (DeviceIdentity, DeviceIdentity)
    private let folder: ScratchFolder

    init() throws {
        server = try DeviceIdentity()
        client = try DeviceIdentity()
        folder = try ScratchFolder()
    }

    private func withServer(
        _ handled: @escaping @Sendable () -> Void = {}, turnedAway: @escaping @Sendable (LinkError) -> Void = { _ in },
        _ body: @escaping @Sendable (Endpoint) async throws -> Void
    ) async throws {
        let options = secured(server) { [client] in $0 == client.id }
        try await withListener(
            options, onTurnedAway: { turnedAway($1) },
            handler: { link in
                handled()
                await echo(link)
            }, body)
    }

    /// OpenSSL's client, which sends a line, and goes when it is told why it is not welcome, or has had its answer.
    private func openssl(_ address: Endpoint, _ arguments: String...) async throws -> String {
        let program = try ChildProgram(
            "/usr/bin/openssl", ["s_client", "-connect", "\(address)"] + arguments, input: .pipe)
        await program.write(Array("hello\n".utf8))
        _ = try? await program.waitForLine(containing: "hello", on: .output, timeout: .seconds(10))
        program.closeInput()
        let outcome = try await program.wait(timeout: .seconds(20))
        return outcome.stdout + outcome.stderr
    }

    private func pem(of identity: DeviceIdentity) throws -> String {
        let file = folder.path.appending("\(identity.id.text.prefix(5)).pem")
        if (try? PlatformCalls.status(of: file)) == nil { try OpenFile.creating(file).write(Array(identity.pem.utf8)) }
        return file.string
    }

    @Test func `turns away whoever shows no certificate`() async throws {
        let handled = Mutex(0)
        let errors = Mutex<[LinkError]>([])
        try await withServer(
            { handled.withLock { $0 += 1 } }, turnedAway: { error in errors.withLock { $0.append(error) } }
        ) { address in
            let told = try await openssl(address, "-tls1_3")
            #expect(told.contains("alert certificate required"))
        }
        #expect(handled.withLock { $0 } == 0 && errors.withLock { $0 } == [.noCertificate])
    }

    @Test func `speaks no older TLS, even with a friend`() async throws {
        let handled = Mutex(0)
        let file = try pem(of: client)
        try await withServer({ handled.withLock { $0 += 1 } }) { address in
            for version in ["-tls1_2", "-tls1_1", "-tls1"] {
                let told = try await openssl(address, version, "-cert", file, "-key", file)
                #expect(told.contains("protocol version") || told.contains("no protocols available"), "\(told)")
            }
        }
        #expect(handled.withLock { $0 } == 0)
    }

    @Test func `takes no ticket in place of a certificate`() async throws {
        let file = try pem(of: client)
        let session = folder.path.appending("session").string
        try await withServer { address in
            let first = try await openssl(
                address, "-tls1_3", "-cert", file, "-key", file, "-sess_out", session)
            #expect(first.contains("hello"))
            let second = try await openssl(address, "-tls1_3", "-cert", file, "-key", file, "-sess_in", session)
            #expect(!second.contains("Reused, TLSv1.3"))
            let withoutCertificate = try await openssl(address, "-tls1_3", "-sess_in", session)
            #expect(withoutCertificate.contains("alert certificate required"), "\(withoutCertificate)")
        }
    }

    @Test func `cannot be told again what it was told once`() async throws {
        let handled = Mutex(0)
        try await withServer({ handled.withLock { $0 += 1 } }) { [client, server] address in
            let recording = Mutex<[UInt8]>([])
            let relay = try await Relay.start(to: address) { bytes in recording.withLock { $0 += bytes } }
            try await PeerLink.withLink(to: relay.address, secured(client) { $0 == server.id }) { link throws in
                try await link.writer.write(pattern(1_000), within: patience)
                try? await link.writer.finish()
                let reader = link.reader
                #expect(try await reader.all() == pattern(1_000))
            }
            try await relay.stop()
            #expect(handled.withLock { $0 } == 1)
            let bytes = recording.withLock { $0 }
            #expect(bytes.count > 1_500)
            for end in [bytes.count, bytes.count / 2] {
                do {
                    try await replay(Array(bytes[..<end]), to: address)
                } catch LinkError.closedByPeer {
                    // It may be turned away before it has said all.
                }
            }
            #expect(handled.withLock { $0 } == 1)
        }
    }

    private func replay(_ bytes: [UInt8], to address: Endpoint) async throws {
        try await PeerLink.withLink(to: address) { link throws in
            try? await link.writer.write(bytes, within: patience)
            try? await link.writer.finish()
            let reader = link.reader
            while let piece = try? await reader.next(within: patience) { _ = piece }
        }
    }
}

/// Passes bytes on between a client and a listener, and shows what the client says.
private struct Relay {
    let address: Endpoint
    private let channel: any Channel

    static func start(
        to target: Endpoint, _ onClientBytes: @escaping @Sendable ([UInt8]) -> Void
    ) async throws -> Relay {
        guard case .tcp(let host, let port) = target else { throw LinkError.cancelled }
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { inner in
                ClientBootstrap(group: inner.eventLoop)
                    .channelOption(.allowRemoteHalfClosure, value: true)
                    .connect(host: host, port: port).flatMapThrowing { outer in
                        try inner.pipeline.syncOperations.addHandler(Forward(to: outer, onClientBytes))
                        try outer.pipeline.syncOperations.addHandler(Forward(to: inner) { _ in })
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return Relay(address: .tcp(host: "127.0.0.1", port: try #require(server.localAddress?.port)), channel: server)
    }

    func stop() async throws { try await channel.close() }

    private final class Forward: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let other: any Channel
        private let onBytes: @Sendable ([UInt8]) -> Void

        init(to other: any Channel, _ onBytes: @escaping @Sendable ([UInt8]) -> Void) {
            self.other = other
            self.onBytes = onBytes
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            onBytes(Array(bytes.readableBytesView))
            other.writeAndFlush(bytes, promise: nil)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case ChannelEvent.inputClosed? = event as? ChannelEvent { other.close(mode: .output, promise: nil) }
        }

        func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
    }
}
