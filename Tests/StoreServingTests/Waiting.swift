import StoreFiles
import SystemPackage

/// Waiting for other processes.
enum Waiting {
    struct TooLong: Error { let path: FilePath }

    /// Looks again and again.
    static func untilThere(_ path: FilePath, atMost time: Duration = .seconds(20)) async throws {
        let deadline = ContinuousClock.now + time
        while (try? PlatformCalls.status(of: path)) == nil {
            guard .now < deadline else { throw TooLong(path: path) }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
