import NIOCore
import NIOPosix

/// A channel as links use it: it is read from only when asked to, and each side is closed for itself.
struct LinkChannel: Sendable {
    let channel: any Channel
    let input: ChannelInput

    /// What kind of channel it is, for the options that only some have.
    enum Kind: Hashable, Sendable { case tcp, unix, pipe }

    /// Of a TCP socket, in bytes, in either direction: enough for 2.5 MB/s with 100 ms of delay. It bounds what the kernel
    /// takes from a writer before the peer has it, and what NIO reads at once when the peer ends.
    static let socketBufferSize = 256 * 1024

    /// Sets up a channel that is not connected yet, on its event loop.
    static func prepare(_ channel: any Channel, _ kind: Kind) throws -> LinkChannel {
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
        let handler = InputHandler(canWrite: kind != .pipe)
        try channel.pipeline.syncOperations.addHandler(handler)
        return LinkChannel(channel: channel, input: ChannelInput(handler, of: channel))
    }

    /// The link over a socket.
    func openLink(peer: Endpoint, _ options: LinkOptions) -> OpenLink {
        let output = ChannelOutput(channel, closing: .output, finishLimit: options.lingerTime)
        return OpenLink(
            link: Link(direction: .twoWay, reader: LinkReader(input), writer: LinkWriter(output), peer: peer),
            channels: [channel], input: input, output: output, lingerTime: options.lingerTime)
    }
}
