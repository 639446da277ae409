import CLibrary
import FoundationEssentials

/// The descriptors that this process has open. To be counted in a process of its own (an exit test): other tests open and
/// close some at any time.
package enum OpenDescriptors {
    private static let folders = ["/proc/self/fd", "/dev/fd"]

    /// How many there are, the one for counting not included or always included.
    package static var count: Int {
        for folder in folders {
            if let names = try? FileManager.default.contentsOfDirectory(atPath: folder) { return names.count }
        }
        return 0
    }

    /// What they are open on, for those who wonder why there are so many.
    package static var targets: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folders[0])) ?? []
        return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folders[0])/\($0)") }
            .sorted()
    }

    /// Lets this process have no more than `most` open from now on.
    package static func limit(to most: Int) throws {
        var limit = rlimit()
        #if canImport(Glibc)
            let which = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let which = RLIMIT_NOFILE
        #endif
        guard getrlimit(which, &limit) == 0 else { throw CocoaError(.featureUnsupported) }
        limit.rlim_cur = rlim_t(most)
        guard setrlimit(which, &limit) == 0 else { throw CocoaError(.featureUnsupported) }
    }

    /// Waits until there are no more than `expected`, and what they are open on is as it should be; for as long as a busy machine may
    /// take to close what is not used any more, on whatever thread that is.
    ///
    /// - Returns: How many there are then.
    package static func settle(
        at expected: Int, within limit: Duration = .seconds(30), where isSo: ([String]) -> Bool = { _ in true }
    ) async throws -> Int {
        let deadline = ContinuousClock.now + limit
        while count > expected || !isSo(targets), .now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        return count
    }
}
