import StoreServing

/// Changes, one after the other, none of them waited for without end.
struct Told {
    struct Nothing: Error {}
    struct NoGeneration: Error { let change: StoreChange }

    private let ask: @Sendable () async -> StoreChange?

    /// Asks when the test does: what is there by then needs no notice.
    init(_ changes: StoreChanges) {
        ask = {
            var iterator = changes.makeAsyncIterator()
            return await iterator.next()
        }
    }

    /// Waits all the time, as a reader does: nothing is told but by notice.
    init(waitingFor changes: StoreChanges) {
        let (told, tell) = AsyncStream<StoreChange>.makeStream()
        let task = Task {
            for await change in changes { tell.yield(change) }
        }
        tell.onTermination = { _ in task.cancel() }
        ask = {
            var iterator = told.makeAsyncIterator()
            return await iterator.next()
        }
    }

    func next() async throws -> StoreChange {
        try await withThrowingTaskGroup(of: StoreChange?.self) { [ask] group in
            group.addTask { await ask() }
            group.addTask {
                try await Task.sleep(for: .seconds(8))
                throw Nothing()
            }
            defer { group.cancelAll() }
            guard let change = try await group.next() ?? nil else { throw Nothing() }
            return change
        }
    }

    func generation() async throws -> GenerationChange {
        let change = try await next()
        guard case .generation(let generation) = change else { throw NoGeneration(change: change) }
        return generation
    }
}
