import StoreFiles
import Synchronization
import SystemPackage

/// Tells sessions that a list of trusted devices may have changed. All sessions that use a list share one thread.
final class TrustWatch: Sendable {
    private static let all = Mutex<[FilePath: Weak]>([:])

    private struct Weak { weak var watch: TrustWatch? }

    private let listeners = Registrations<Void>()
    /// `nil` before it is made, and where there is no descriptor left.
    private let watch = Mutex<FileWatch?>(nil)

    /// Where the system does not tell of changes, between two looks at the list's status.
    private static let interval = Duration.milliseconds(250)
    /// A folder far above may be moved, of which the system tells nothing.
    private static let secondLook = Duration.seconds(30)

    /// The changes of a list from now on, first of all one at once.
    static func changes(of list: FilePath) -> AsyncStream<Void> {
        let watch = all.withLock { all in
            if let known = all[list]?.watch { return known }
            let made = TrustWatch()
            all[list] = Weak(watch: made)
            return made
        }
        guard watch.begins(list) else {
            return AsyncStream { (try? await Task.sleep(for: interval)) }
        }
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let registration = watch.listeners.add { continuation.yield() }
            // It holds the watch for as long as the stream is read.
            continuation.onTermination = { _ in withExtendedLifetime((watch, registration)) {} }
            continuation.yield()
        }
    }

    /// - Returns: Whether it watches; not if there is no descriptor left.
    private func begins(_ list: FilePath) -> Bool {
        watch.withLock { watch in
            if watch != nil { return true }
            watch = try? FileWatch(
                of: 1, every: Self.interval, secondLook: Self.secondLook, files: { _ in [list] },
                notice: { [weak self] _ in self?.listeners.call() })
            return watch != nil
        }
    }
}
