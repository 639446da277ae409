import NIOCore
import NIOPosix
import StoreFiles

/// The threads that move bytes, for the whole process, each started when it is first needed and never stopped.
enum LinkThreads {
    /// One is enough for as many links as there are: it only moves bytes between the kernel and us.
    static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// For what cannot be waited for in an event loop: files, devices and the resolver.
    static let blocking: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 2)
        pool.start()
        return pool
    }()

    /// Runs a call that blocks for as long as a disk takes, where it keeps no task from running.
    static func whileBlocking<Value: Sendable>(
        _ call: @escaping @Sendable () throws(FileError) -> Value
    ) async throws(LinkError) -> Value {
        do {
            return try await blocking.runIfActive(call)
        } catch {
            throw LinkError(onOpenLink: error)
        }
    }
}

extension TimeAmount {
    /// A year stands for every longer time, so that no sum of times overflows.
    init(clamping duration: Duration) {
        self.init(min(duration, .seconds(365 * 24 * 60 * 60)))
    }
}
