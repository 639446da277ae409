import Synchronization

/// Who wants to be called, each for as long as the registration lives.
final class Registrations<Argument>: Sendable {
    private let state = Mutex<(next: Int, open: [Int: @Sendable (Argument) -> Void])>((0, [:]))

    func add(_ call: @escaping @Sendable (Argument) -> Void) -> Registration {
        let id = state.withLock { state in
            state.next += 1
            state.open[state.next] = call
            return state.next
        }
        return Registration { [weak self] in self?.state.withLock { _ = $0.open.removeValue(forKey: id) } }
    }

    func call(_ argument: Argument) { for call in state.withLock({ Array($0.open.values) }) { call(argument) } }
}

extension Registrations<Void> {
    func call() { call(()) }
}
