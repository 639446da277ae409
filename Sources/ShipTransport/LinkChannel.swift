import DeviceTrust
import NIOCore
import NIOPosix
import NIOSSL
import ShipLinks
import ShipProtocol
import SystemPackage

import struct SystemPackage.FileDescriptor

/// A channel as links use it: NIO reads from it only when the link's reader asks, and each side is closed separately.
struct LinkChannel: LinkReader, PreparedChannel {
    let channel: any Channel
    private let input: NIOLoopBound<IncomingPieces<ByteBuffer, [UInt8]>>
    private let end: EndMark
    /// Done when the handshake is; `nil` on a link without TLS.
    let handshake: EventLoopFuture<HandshakeHandler.Peer>?
    /// The device at the other end; `nil` before the handshake is done, and on a link without TLS.
    var device: DeviceIdentifier?

    /// For the options that only some channels have.
    enum Kind: Hashable, Sendable { case tcp, unix, pipe }

    /// Of a TCP socket, in bytes, in either direction: enough for 2.5 MB/s with 100 ms of delay. It bounds what the kernel
    /// takes from a writer before the peer has it, and what NIO reads at once when the peer ends.
    static let socketBufferSize = 256 * 1024

    /// Most bytes that `drain` discards.
    private static let drainLimit = 16 * 1024 * 1024

    /// Sets up a channel that is not connected yet, on its event loop.
    ///
    /// - Parameter isAccepted: Whether this side listened; it is the server of TLS's handshake.
    init(
        preparing channel: any Channel, _ kind: Kind, isAccepted: Bool = false,
        _ security: LinkSecurity = .plainOnLoopback
    ) throws {
        self.channel = channel
        if let options = channel.syncOptions {
            try options.setOption(.autoRead, value: false)
            try options.setOption(.allowRemoteHalfClosure, value: true)
            try options.setOption(.maxMessagesPerRead, value: 2)
            try options.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: PeerLink.pieceSize))
            if kind == .tcp {
                try options.setOption(.tcpOption(.tcp_nodelay), value: 1)
                try options.setOption(.socketOption(.so_sndbuf), value: .init(Self.socketBufferSize))
                try options.setOption(.socketOption(.so_rcvbuf), value: .init(Self.socketBufferSize))
            }
        }
        switch (kind, security) {
        case (.tcp, .mutualTLS(let identity, let admission)):
            let verification = PeerVerification(admission) {
                channel.eventLoop.submit {
                    // What stands in front of it would send an alert, or wait for one.
                    let pipeline = channel.pipeline.syncOperations
                    let first =
                        isAccepted
                        ? try pipeline.context(handlerType: GracefulCloseHandler.self)
                        : try pipeline.context(handlerType: NIOSSLClientHandler.self)
                    first.close(mode: .all, promise: nil)
                }
            }
            handshake = try Self.addTLS(to: channel, isServer: isAccepted, identity, verification)
        case (.tcp, .plainOnLoopback):
            try channel.pipeline.syncOperations.addHandler(PlaintextGuard())
            handshake = nil
        case (.unix, _), (.pipe, _): handshake = nil
        }
        let handler = IncomingPieces<ByteBuffer, [UInt8]>(
            upTo: 2 * PeerLink.pieceSize, canWrite: kind != .pipe, explaining: LinkError.init(onOpenLink:)
        ) { buffer in
            // The copy lets NIO use its buffer again, which is longer than most pieces.
            let bytes = Array(buffer.readableBytesView)
            return bytes.isEmpty ? nil : (bytes, bytes.count)
        }
        try channel.pipeline.syncOperations.addHandler(handler)
        input = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        end = handler.hasEnded
    }

    private static func addTLS(
        to channel: any Channel, isServer: Bool, _ identity: DeviceIdentity, _ verification: PeerVerification
    ) throws -> EventLoopFuture<HandshakeHandler.Peer> {
        let context = try identity.makeTLSContext()
        let handler = HandshakeHandler(identity.id, verification, on: channel.eventLoop)
        do {
            if isServer {
                let closing = GracefulCloseHandler(verification)
                handler.whenSucceeded = closing.handshakeSucceeded
                try channel.pipeline.syncOperations.addHandler(closing)
                try channel.pipeline.syncOperations.addHandler(
                    NIOSSLServerHandler(context: context, customVerificationCallback: verification.verify))
            } else {
                try channel.pipeline.syncOperations.addHandler(
                    try NIOSSLClientHandler(
                        context: context, serverHostname: nil, customVerificationCallback: verification.verify))
            }
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            handler.done.fail(error)
            throw error
        }
        return handler.done.futureResult
    }

    /// Gives NIO a pipe's end or a duplicate of it, which NIO closes in the end; it is closed here if that fails.
    static func takingOver(
        _ descriptor: FileDescriptor,
        _ start: (NIOPipeBootstrap, CInt) -> EventLoopFuture<any Channel>
    ) async throws(LinkError) -> LinkChannel {
        let eventLoop = MultiThreadedEventLoopGroup.forLinks.next()
        let prepared = NIOLoopBoundBox<LinkChannel?>.makeEmptyBox(valueType: LinkChannel.self, eventLoop: eventLoop)
        let bootstrap = NIOPipeBootstrap(group: eventLoop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { prepared.value = try LinkChannel(preparing: channel, .pipe) }
        }
        do {
            guard let channel = try await start(bootstrap, descriptor.rawValue).map({ _ in prepared.value }).get()
            else { throw LinkError.io(.ioError) }
            return channel
        } catch {
            try? descriptor.close()
            throw LinkError(onOpenLink: error)
        }
    }

    /// Waits for the handshake, on a link with TLS, and sets `device`; closes the channel if the handshake fails.
    mutating func awaitHandshake(at endpoint: Endpoint, within limit: Duration) async throws(LinkError) {
        guard let handshake else { return }
        do throws(LinkError) {
            device = try await AwaitedAnswer<DeviceIdentifier>.wait(
                within: limit, or: .timedOutConnecting(endpoint)
            ) { answer in
                handshake.whenComplete { result in
                    answer.give(result.map(\.device).mapError { LinkError(onOpenLink: $0) })
                }
            }
        } catch {
            channel.close(promise: nil)
            throw error
        }
    }

    /// The endpoint at the other end of a socket.
    var remoteEndpoint: Endpoint? { channel.remoteAddress.flatMap(Endpoint.init) }

    /// Calls `body` once the channel is active. Called on the event loop.
    func whenActive(_ body: @escaping () -> Void) { input.value.whenActive = body }

    // MARK: Reading

    var hasEnded: Bool { end.isSet }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        try await AwaitedAnswer.wait { answer in
            channel.eventLoop.execute { [input, eventLoop = channel.eventLoop] in
                input.value.wait(answer, limit: TimeAmount(clamping: limit), on: eventLoop)
            }
        }
    }

    /// Why the link broke, as far as the reading side knows. Called on the event loop.
    var breakage: LinkError? { input.value.breakage }

    /// Reads and discards what the peer still sends, until it ends its side, or `deadline`.
    func drain(until deadline: ContinuousClock.Instant) async {
        var left = Self.drainLimit
        while left > 0, let piece = try? await next(within: deadline - .now) { left -= piece.count }
    }
}
