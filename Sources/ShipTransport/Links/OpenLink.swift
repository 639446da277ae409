import NIOCore
import NIOPosix
import ShipLinks
import StoreFiles
import SystemPackage

import struct SystemPackage.FileDescriptor

/// A link and what it holds open: used once, and closed whatever happens.
struct OpenLink: Sendable {
    var link: PeerLink
    var channels: [any Channel] = []
    /// Set where the last word could be lost by closing too early.
    var input: ChannelInput?
    var output: ChannelOutput?
    /// Descriptors that others share, which NIO has made fail rather than wait.
    var borrowed: [BorrowedDescriptor] = []
    var lingerTime = Duration.zero

    /// Runs `body`, then finishes what it has not finished itself, and closes the link.
    ///
    /// Unless the task is cancelled, the peer gets the last word that was written.
    nonisolated(nonsending) func use<Result>(
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body(link)
            await close()
            return result
        } catch {
            await close()
            throw error
        }
    }

    /// Closes the link: to a peer that may still be sending, in an orderly way.
    func close() async {
        let deadline = ContinuousClock.now + lingerTime
        if !Task.isCancelled, let output, (try? await output.finish()) != nil, let input {
            await input.drain(until: deadline)
        }
        for channel in channels { try? await channel.close() }
        for descriptor in borrowed { descriptor.restore() }
    }
}

/// A descriptor that is not ours to change: it may be another process's as well.
struct BorrowedDescriptor: Sendable {
    private let descriptor: FileDescriptor
    private let flags: CInt

    init?(_ descriptor: FileDescriptor) {
        guard let flags = PlatformCalls.statusFlags(of: descriptor) else { return nil }
        self.descriptor = descriptor
        self.flags = flags
    }

    func restore() { PlatformCalls.setStatusFlags(flags, of: descriptor) }
}

/// The threads that move bytes, for the whole process, each started when it is first needed and never stopped.
enum LinkThreads {
    /// One is enough for as many links as there are: it only moves bytes between the kernel and us.
    static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// For what cannot be waited for in an event loop: named pipes, what is read when a device connects, and the resolver.
    static let blocking: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 2)
        pool.start()
        return pool
    }()
}

extension TimeAmount {
    /// A year stands for every longer time, so that no sum of times overflows.
    init(clamping duration: Duration) {
        self.init(min(duration, .seconds(365 * 24 * 60 * 60)))
    }
}
