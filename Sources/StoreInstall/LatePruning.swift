import Dispatch
import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization

/// Removes what was current until a moment ago, once that moment is over. It has nothing to do once its owner is gone: then
/// the next start does it.
final class LatePruning: Sendable {
    private let folder: InboxFolder
    private let retention: Retention
    /// The stores that will be looked at.
    private let waiting = Mutex<Set<StoreName>>([])

    /// Until the next look where somebody else is changing the store.
    private static let pause = Duration.milliseconds(100)

    init(_ folder: InboxFolder, _ retention: Retention) {
        self.folder = folder
        self.retention = retention
    }

    /// - Parameter rest: After how long there is something to remove; `nil` for nothing.
    func schedule(_ name: StoreName, in rest: Duration?) {
        guard let rest, waiting.withLock({ $0.insert(name).inserted }) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + rest / .seconds(1)) { [weak self] in self?.prune(name) }
    }

    private func prune(_ name: StoreName) {
        _ = waiting.withLock { $0.remove(name) }
        do throws(InboxError) {
            let custody = try StoreCustody(of: name, in: folder, patience: .zero)
            schedule(name, in: try custody.prune(retention).rest)
        } catch {
            // Whatever else it is, the next installation meets it too.
            if case .storeBusy = error { schedule(name, in: Self.pause) }
        }
    }

    /// Waits until nothing stays any more only because it was current a moment ago, and removes it: somebody needs its room.
    ///
    /// - Returns: Whether anything went.
    func finish() throws(InboxError) -> Bool {
        var rest = Duration.zero
        var names: [StoreName] = []
        for name in try folder.storeNames() {
            guard let custody = try? StoreCustody(of: name, in: folder), let left = try? custody.prune(retention).rest
            else { continue }
            names.append(name)
            rest = max(rest, left)
        }
        guard !names.isEmpty else { return false }
        PlatformCalls.pause(rest)
        for name in names { _ = try? StoreCustody(of: name, in: folder).prune(retention) }
        return true
    }
}
