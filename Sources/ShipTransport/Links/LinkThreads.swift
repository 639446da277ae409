import NIOCore
import NIOPosix

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
