import Dispatch
import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization

/// Removes what was current until a moment ago, once that moment is over, and what a suspended reader has not come back for. It has
/// nothing to do once its owner is gone: then the next start does it.
final class LatePruning: Sendable {
    private let folder: InboxFolder
    private let retention: Retention
    /// When a store will be looked at.
    private let waiting = Mutex<[StoreName: ContinuousClock.Instant]>([:])

    /// Until the next look where somebody else is changing the store.
    private static let pause = Duration.milliseconds(100)

    init(_ folder: InboxFolder, _ retention: Retention) {
        self.folder = folder
        self.retention = retention
    }

    /// - Parameter rest: After how long there is something to remove; `nil` for nothing.
    func schedule(_ name: StoreName, in rest: Duration?) {
        guard let rest else { return }
        let due = ContinuousClock.now + rest
        let isSooner = waiting.withLock { waiting in
            if let before = waiting[name], before <= due { return false }
            waiting[name] = due
            return true
        }
        guard isSooner else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + rest / .seconds(1)) { [weak self] in
            self?.prune(name, due)
        }
    }

    /// - Parameter due: Of the timer: where another one is sooner, or came after it, that one does it.
    private func prune(_ name: StoreName, _ due: ContinuousClock.Instant) {
        let isMeant = waiting.withLock { waiting in
            guard waiting[name] == due else { return false }
            waiting[name] = nil
            return true
        }
        guard isMeant else { return }
        do throws(InboxError) {
            let custody = try StoreCustody(of: name, in: folder, patience: .zero)
            schedule(name, in: try custody.prune(retention).nextLook)
        } catch {
            // Whatever else it is, the next installation meets it too.
            if case .storeBusy = error { schedule(name, in: Self.pause) }
        }
    }

    /// Waits until nothing stays any more only because it was current a moment ago, and removes it, and what suspended readers
    /// wait for: somebody needs its room.
    ///
    /// - Returns: Whether anything went.
    func finish() throws(InboxError) -> Bool {
        let retention = retention.withoutSuspensionGrace
        var rest = Duration.zero
        var names: [StoreName] = []
        var isGone = false
        for name in try folder.storeNames() {
            guard let custody = try? StoreCustody(of: name, in: folder), let pruned = try? custody.prune(retention)
            else { continue }
            if !pruned.removed.isEmpty { isGone = true }
            guard let left = pruned.rest else { continue }
            names.append(name)
            rest = max(rest, left)
        }
        guard !names.isEmpty else { return isGone }
        PlatformCalls.pause(rest)
        for name in names { _ = try? StoreCustody(of: name, in: folder).prune(retention) }
        return true
    }
}
