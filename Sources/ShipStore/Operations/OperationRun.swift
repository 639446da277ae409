import StoreOperations

/// How an operation is run: on threads that may block, with an end to its waiting when its task is cancelled.
enum OperationRun {
    /// - Throws: Any error of the stages, as `ShipmentError`.
    static func run<Value: Sendable>(
        waiting busyTimeout: Duration, _ work: @escaping @Sendable (Patience) async throws -> Value
    ) async throws(ShipmentError) -> Value {
        let patience = Patience(busyTimeout: busyTimeout)
        do {
            return try await withTaskCancellationHandler {
                try await withTaskExecutorPreference(BlockingExecutor.shared) { try await work(patience) }
            } onCancel: {
                patience.stop()
            }
        } catch {
            throw ShipmentError(error)
        }
    }
}
