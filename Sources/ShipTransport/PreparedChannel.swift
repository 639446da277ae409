import NIOCore
import NIOPosix
import ShipLinks

/// A channel that is prepared before it is connected.
protocol PreparedChannel: Sendable {
    var channel: any Channel { get }
}

extension ClientBootstrap {
    /// Connects, perhaps to one of several addresses.
    ///
    /// - Parameters:
    ///   - prepare: Called with each channel that is tried, on its event loop.
    ///   - start: Begins to connect.
    /// - Returns: What was made of the channel that is connected.
    /// - Throws: The errors that `LinkError` lists under making the link.
    static func connect<Prepared: PreparedChannel>(
        to endpoint: Endpoint, within limit: Duration,
        preparing prepare: @escaping @Sendable (any Channel) throws -> Prepared,
        _ start: (ClientBootstrap) -> EventLoopFuture<any Channel>
    ) async throws(LinkError) -> Prepared {
        let eventLoop = MultiThreadedEventLoopGroup.forLinks.next()
        // The sockets that this call tries: all of them are closed if it is cancelled. `nil` once they are abandoned.
        let attempts = NIOLoopBoundBox<[Prepared]?>.makeBoxSendingValue([], eventLoop: eventLoop)
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(clamping: max(limit, .milliseconds(1))))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let tried = attempts.value else { throw LinkError.cancelled }
                    attempts.value = tried + [try prepare(channel)]
                }
            }
        do throws(LinkError) {
            return try await AwaitedAnswer.wait { answer in
                start(bootstrap).whenComplete { result in
                    switch result {
                    case .failure(let error): answer.give(.failure(LinkError(opening: endpoint, error)))
                    case .success(let winner):
                        let prepared = attempts.value?.first { $0.channel === winner }
                        answer.give(prepared.map { .success($0) } ?? .failure(.cancelled))
                    }
                }
            }
        } catch {
            _ = try? await eventLoop.submit {
                for prepared in attempts.value ?? [] { prepared.channel.close(promise: nil) }
                attempts.value = nil
            }.get()
            throw error
        }
    }
}
