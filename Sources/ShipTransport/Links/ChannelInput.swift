import NIOCore
import ShipLinks

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
