import Dispatch
import StoreFiles

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
