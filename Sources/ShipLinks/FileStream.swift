import Dispatch
package import StoreFiles
import SystemPackage

/// Reads a file, a device or a pipe by waiting for it. A file never makes one wait; the others do no longer than they may.
package final class FileSource: LinkSource {
    private let file: OpenFile
    private let calls = BlockingCalls()

    /// How long one waits at a time, before it is seen whether one may still wait.
    private static let slice = Duration.milliseconds(100)

    package init(_ file: consuming OpenFile) {
        self.file = file
    }

    package func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        let deadline = ContinuousClock.now + limit
        while true {
            guard !Task.isCancelled else { throw .cancelled }
            switch try await calls.run({ [self] () throws(FileError) in try readOrWait() }) {
            case .bytes(let bytes): return bytes
            case .end: return nil
            case .nothing: guard .now < deadline else { throw .timedOut(.reading) }
            }
        }
    }

    private enum Reading { case bytes([UInt8]), end, nothing }

    private func readOrWait() throws(FileError) -> Reading {
        do throws(FileError) {
            return try file.readNext(LinkReader.pieceSize).map(Reading.bytes) ?? .end
        } catch {
            guard error.errno == .wouldBlock else { throw error }
            PlatformCalls.waitForInput(from: [file.descriptor], atMost: Self.slice)
            return .nothing
        }
    }
}

/// What can only be written to by waiting for it: a file that somebody else opened, a device.
package final class FileWriter: LinkSink {
    private let file: OpenFile
    private let calls = BlockingCalls()

    package init(_ file: consuming OpenFile) {
        self.file = file
    }

    package func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        guard !Task.isCancelled else { throw .cancelled }
        try await calls.run { [self] () throws(FileError) in try file.write(bytes) }
    }

    package func finish() async throws(LinkError) {}
}

/// Where calls that block for as long as a disk takes keep no task from running: a thread of their own.
struct BlockingCalls: Sendable {
    private let queue = DispatchQueue(label: "ship-store.link")

    func run<Value: Sendable>(
        _ call: @escaping @Sendable () throws(FileError) -> Value
    ) async throws(LinkError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, FileError>, Never>) in
            queue.async { continuation.resume(returning: Result(catching: call)) }
        }
        do throws(FileError) {
            return try result.get()
        } catch {
            throw .file(error)
        }
    }

    func start(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
