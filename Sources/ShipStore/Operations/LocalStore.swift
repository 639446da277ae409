public import StoreBases
import StoreOperations
public import SystemPackage

/// A store of this device, and what can be done to it as a whole: it can be copied, restored, moved and destroyed. Other
/// programs may have it open meanwhile.
public struct LocalStore: Sendable {
    public let path: FilePath
    /// How copies of it are taken, and how long to wait for other programs that use it.
    public let options: CopyOptions
    /// Where its acknowledged copies may be remembered, which are forgotten with it and follow it; `nil` for nowhere.
    public let memory: BaseMemory?

    public init(_ path: FilePath, options: CopyOptions = CopyOptions(), memory: BaseMemory? = nil) {
        self.path = path
        self.options = options
        self.memory = memory
    }
}

extension LocalStore {
    /// Runs an operation on threads that may block, and ends its waiting when its task is cancelled.
    static func run<Value: Sendable>(
        waiting busyTimeout: Duration, _ work: @escaping @Sendable (BusyHandler) async throws -> Value
    ) async throws(ShipmentError) -> Value {
        let busyHandler = BusyHandler(busyTimeout: busyTimeout)
        return try await ShipmentError.awaiting {
            return try await withTaskCancellationHandler {
                try await withTaskExecutorPreference(BlockingExecutor.shared) { try await work(busyHandler) }
            } onCancel: {
                busyHandler.stop()
            }
        }
    }
}
