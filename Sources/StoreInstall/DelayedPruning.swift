import Dispatch
import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization
import SystemPackage

/// Removes generations that were kept because they were current a moment ago, or because a suspended reader might come back, once
/// that time is over. If its owner ends before, the next start removes them.
final class DelayedPruning: Sendable {
    let folder: InboxFolder
    let retention: Retention
    let spares: SpareFiles
    /// When a store will be looked at.
    private let waiting = Mutex<[StoreName: ContinuousClock.Instant]>([:])

    /// Until the next look, if another process is changing the store.
    private static let pause = Duration.milliseconds(100)

    init(_ folder: InboxFolder, _ retention: Retention, keeping spares: SpareFiles) {
        self.folder = folder
        self.retention = retention
        self.spares = spares
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
            let storeLock = try StoreLock(of: name, in: folder, timeout: .zero)
            schedule(name, in: try storeLock.prune(retention, keeping: spares).nextLook)
        } catch {
            // Whatever else it is, the next installation meets it too.
            if case .storeBusy = error { schedule(name, in: Self.pause) }
        }
    }

    /// Makes room. Waits until the generations that were current a moment ago may go, and removes them, and those that suspended
    /// readers have let go of.
    ///
    /// - Returns: Whether anything went.
    func finish() throws(InboxError) -> Bool {
        let retention = retention.withoutSuspensionGrace
        var rest = Duration.zero
        var names: [StoreName] = []
        var isGone = false
        for name in try folder.storeNames() {
            guard let storeLock = try? StoreLock(of: name, in: folder), let pruned = try? storeLock.prune(retention)
            else { continue }
            if !pruned.removed.isEmpty { isGone = true }
            guard let left = pruned.rest else { continue }
            names.append(name)
            rest = max(rest, left)
        }
        guard !names.isEmpty else { return isGone }
        // In short pauses, so that it ends soon after a cancellation.
        let end = ContinuousClock.now + rest
        while .now < end {
            if Task.isCancelled { return isGone }
            PlatformCalls.pause(.milliseconds(10))
        }
        for name in names { _ = try? StoreLock(of: name, in: folder).prune(retention) }
        return true
    }
}

/// Sweeps what a receiver that was killed, or lost its power, may have left behind. Only the owner of an inbox sweeps it.
extension DelayedPruning {
    /// Removes all stagings but one for each store, which waits; generations that never became current; and generations beyond
    /// the retention. Puts missing links back, and removes those of a store whose first shipment never became current.
    func sweep() throws(InboxError) {
        try folder.sweepForgotten()
        for name in try folder.storeNames() {
            do throws(InboxError) {
                try sweep(name)
            } catch {
                guard error.isOfOneStore else { throw error }
            }
        }
    }

    private func sweep(_ name: StoreName) throws(InboxError) {
        let storeLock = try StoreLock(of: name, in: folder)
        let layout = folder.layout
        try InboxError.wrapping { () throws(FileError) in try empty(layout.staging(name), of: name) }
        // Without a readable record it is unknown which generations were current once; the next shipment is refused for that.
        let record = try? storeLock.record()
        guard let current = try folder.currentName(of: name) else {
            // Anything else in its place stays. Where there was more than a first shipment, an operator has removed the link, and
            // may want the generations.
            guard try folder.awaitsFirst(name) else { return }
            // No name may lead to what is not there.
            try folder.removeLinks(of: name)
            for generation in try folder.generationNames(of: name) { try storeLock.remove(generation) }
            storeLock.removeFolderIfUnused()
            return
        }
        if let record {
            try storeLock.settle()
            let highest = max(current.number, record.highest)
            for generation in try folder.generationNames(of: name) where generation.number > highest {
                try storeLock.remove(generation)
            }
        }
        schedule(name, in: try storeLock.prune(retention).nextLook)
        if let manifest = try? folder.current(of: name)?.manifest {
            try folder.makeLinks(for: manifest)
        }
    }

    private func empty(_ path: FilePath, of name: StoreName) throws(FileError) {
        guard try folder.files.statusIfThere(of: path)?.kind == .folder else { return }
        let kept = folder.waitingShipments(of: name).first?.path
        for name in try folder.files.names(in: path) where path.appending(text: name) != kept {
            try folder.files.removeTree(at: path.appending(text: name))
        }
    }
}

extension InboxError {
    /// Whether a store is gone, or is not as an inbox makes it: its shipments say so, and those of others come in.
    var isOfOneStore: Bool {
        switch self {
        // Another process has removed the store since the folder was listed.
        case .noSuchStore, .occupied: true
        case .file(let error):
            [.notDirectory, .isDirectory, .tooManySymbolicLinkLevels, .permissionDenied, .invalidArgument]
                .contains(error.errno)
        default: false
        }
    }
}
