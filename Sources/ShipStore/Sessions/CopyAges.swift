import ShipProtocol
import StoreFiles
import StoreInbox
import StoreInstall
import Synchronization

/// How old the copies are that one session of the consumer has brought: asks right after what answers no question, and when a reader wants
/// to know, and writes down what the answers say.
final class CopyAges: Sendable {
    private let installer: Installer
    private let bells: Bells
    private let writer: FrameWriter
    private let alarm = Alarm()
    private let state = Mutex(State())

    private struct State {
        var questions = Questions()
        var stores: [StoreName: Store] = [:]
    }

    private struct Store {
        /// The one that was acknowledged last.
        var generation: GenerationName
        let heard: HeardStore?
        let registration: Registration?
    }

    init(_ installer: Installer, _ bells: Bells, _ writer: FrameWriter) {
        (self.installer, self.bells, self.writer) = (installer, bells, writer)
    }

    /// A producer that answers questions has had a receipt.
    func acknowledged(_ receipt: Receipt, of manifest: Manifest) {
        let generation = GenerationName(number: receipt.generation, digest: receipt.sha256)
        let asOf = state.withLock { state in
            if state.stores[receipt.name] == nil { state.stores[receipt.name] = hear(receipt.name, generation) }
            state.stores[receipt.name]?.generation = generation
            return state.questions.acknowledged(manifest)
        }
        if let asOf { installer.note(asOf: asOf, generation, of: receipt.name) }
        alarm.ring()
    }

    private func hear(_ name: StoreName, _ generation: GenerationName) -> Store {
        let heard = bells.store(name)
        let registration = heard?.callees.add { [weak self] in
            self?.state.withLock { $0.questions.want(name) }
            self?.alarm.ring()
        }
        return Store(generation: generation, heard: heard, registration: registration)
    }

    /// The producer has answered.
    func note(_ newest: Newest) {
        let known = state.withLock { state in
            state.questions.receive(newest).flatMap { found in
                state.stores[found.name].map { (found.name, $0.generation, found.asOf) }
            }
        }
        if let (name, generation, asOf) = known { installer.note(asOf: asOf, generation, of: name) }
        // Another question may have waited for this answer.
        alarm.ring()
    }

    /// Waits for what the producer says between two shipments, and asks meanwhile.
    func whileAsking<Result>(_ wait: () async throws -> Result) async throws -> Result {
        bells.watch()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                while true {
                    try await ask()
                    try await alarm.wait(for: nil)
                }
            }
            defer { group.cancelAll() }
            let result = try await wait()
            group.cancelAll()
            while await group.nextResult() != nil {}
            return result
        }
    }

    private func ask() async throws {
        let questions = state.withLock { $0.questions.ask(at: PlatformCalls.timeSinceStart) }
        guard !questions.isEmpty else { return }
        // What has been noted as asked goes, even if the producer says something meanwhile.
        try await Task { [writer] in for question in questions { try await writer.send(.question(question)) } }.value
    }
}
