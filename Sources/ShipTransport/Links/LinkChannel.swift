import DeviceTrust
import NIOCore
import NIOPosix
import NIOSSL
import ShipLinks

/// A channel as links use it: it is read from only when asked to, and each side is closed for itself.
struct LinkChannel: Sendable {
    let channel: any Channel
    let input: ChannelInput
    /// With the device at the other end once the handshake is done; `nil` where nobody is asked.
    let handshake: EventLoopFuture<AdmittedPeer>?

    /// What kind of channel it is, for the options that only some have.
    enum Kind: Hashable, Sendable { case tcp, unix, pipe }

    /// Of a TCP socket, in bytes, in either direction: enough for 2.5 MB/s with 100 ms of delay. It bounds what the kernel
    /// takes from a writer before the peer has it, and what NIO reads at once when the peer ends.
    static let socketBufferSize = 256 * 1024

    /// Which side of TLS's handshake a channel is.
    enum Side: Hashable, Sendable { case client, server }

    /// Sets up a channel that is not connected yet, on its event loop.
    static func prepare(
        _ channel: any Channel, _ kind: Kind, _ side: Side = .client, _ security: LinkSecurity = .plainOnLoopback
    ) throws -> LinkChannel {
        if let options = channel.syncOptions {
            try options.setOption(.autoRead, value: false)
            try options.setOption(.allowRemoteHalfClosure, value: true)
            try options.setOption(.maxMessagesPerRead, value: 2)
            try options.setOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: LinkReader.pieceSize))
            if kind == .tcp {
                try options.setOption(.tcpOption(.tcp_nodelay), value: 1)
                try options.setOption(.socketOption(.so_sndbuf), value: .init(socketBufferSize))
                try options.setOption(.socketOption(.so_rcvbuf), value: .init(socketBufferSize))
            }
        }
        var handshake: EventLoopFuture<AdmittedPeer>?
        switch (kind, security) {
        case (.tcp, .mutualTLS(let identity, let admission)):
            handshake = try addTLS(to: channel, side, identity, PeerVerification(admission))
        case (.tcp, .plainOnLoopback):
            try channel.pipeline.syncOperations.addHandler(PlainLinkGuard())
        case (.unix, _), (.pipe, _): break
        }
        let handler = InputHandler(canWrite: kind != .pipe)
        try channel.pipeline.syncOperations.addHandler(handler)
        return LinkChannel(channel: channel, input: ChannelInput(handler, of: channel), handshake: handshake)
    }

    private static func addTLS(
        to channel: any Channel, _ side: Side, _ identity: DeviceIdentity, _ verification: PeerVerification
    ) throws -> EventLoopFuture<AdmittedPeer> {
        let context = try TLSContext.make(identity)
        let handler = HandshakeHandler(identity.id, verification, on: channel.eventLoop)
        do {
            switch side {
            case .client:
                try channel.pipeline.syncOperations.addHandler(
                    try NIOSSLClientHandler(
                        context: context, serverHostname: nil, customVerificationCallback: verification.judge))
            case .server:
                let lastWord = LastWordHandler(verification)
                handler.whenPeerIsKnown = lastWord.peerIsKnown
                try channel.pipeline.syncOperations.addHandler(lastWord)
                try channel.pipeline.syncOperations.addHandler(
                    NIOSSLServerHandler(context: context, customVerificationCallback: verification.judge))
            }
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            handler.done.fail(error)
            throw error
        }
        return handler.done.futureResult
    }

    /// Waits for the handshake, where there is one; closes the channel if it comes to nothing.
    ///
    /// - Returns: The device at the other end; `nil` where nobody is asked.
    func peerDevice(
        at endpoint: Endpoint, within limit: Duration
    ) async throws(LinkError) -> DeviceIdentifier? {
        guard let handshake else { return nil }
        do throws(LinkError) {
            return try await AwaitedAnswer.wait { answer in
                let timer = channel.eventLoop.scheduleTask(in: TimeAmount(clamping: max(limit, .zero))) {
                    answer.give(.failure(.timedOutConnecting(endpoint)))
                }
                handshake.whenComplete { result in
                    timer.cancel()
                    answer.give(result.map(\.device).mapError { LinkError(onOpenLink: $0) })
                }
            }
        } catch {
            channel.close(promise: nil)
            throw error
        }
    }

    /// The link over a socket.
    func openLink(peer: Endpoint, _ device: DeviceIdentifier?, _ options: LinkOptions) -> OpenLink {
        let output = ChannelOutput(
            channel, beside: input, closing: .output, finishLimit: options.lingerTime)
        return OpenLink(
            link: PeerLink(
                direction: .twoWay, reader: LinkReader(input), writer: LinkWriter(output), peer: .at(peer),
                device: device),
            channels: [channel], input: input, output: output, lingerTime: options.lingerTime)
    }
}

/// The reading side of a channel.
struct ChannelInput: LinkSource {
    private let handler: NIOLoopBound<InputHandler>
    private let eventLoop: any EventLoop

    /// To be called on the channel's event loop.
    init(_ handler: InputHandler, of channel: any Channel) {
        eventLoop = channel.eventLoop
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        try await AwaitedAnswer.wait { answer in
            eventLoop.execute { [handler, eventLoop] in
                handler.value.wait(answer, limit: TimeAmount(clamping: limit), on: eventLoop)
            }
        }
    }

    /// Why the link broke, as far as the reading side knows. To be called on the event loop.
    var breakage: LinkError? { handler.value.breakage }

    /// Most bytes that are thrown away at the end of a link.
    private static let drainedBytes = 16 * 1024 * 1024

    /// Reads and throws away what the peer still sends, until it ends its side, or `deadline`.
    func drain(until deadline: ContinuousClock.Instant) async {
        var left = Self.drainedBytes
        while left > 0, let piece = try? await next(within: deadline - .now) { left -= piece.count }
    }
}
