import Dispatch
import EssentialFoundation
import ShipProtocol
import StoreFiles
package import StoreInbox
import Synchronization
import SystemPackage

/// Old generations go. A reader that has a file of one open keeps it until it closes it; one that holds the folder's lock
/// keeps the generation, and one that was suspended has it kept for a while.
extension StoreLock {
    /// The result of a pruning.
    package struct Pruned: Hashable, Sendable {
        package fileprivate(set) var removed: [GenerationName] = []
        /// To go, and held by a reader, or awaited by one that is suspended: it goes at a later pruning.
        package fileprivate(set) var held: [GenerationName] = []
        /// After how long what was current until a moment ago may go too; `nil` if nothing stays for that reason.
        package fileprivate(set) var rest: Duration?
        /// After how long one may go for which a suspended reader waits; `nil` if none does.
        fileprivate var restOfAwaited: Duration?

        /// After how long there is something to remove; `nil` for nothing.
        var nextLook: Duration? { [rest, restOfAwaited].compactMap(\.self).min() }
    }

    @discardableResult
    package borrowing func prune(_ retention: Retention) throws(InboxError) -> Pruned {
        let superfluous = try superfluous(retention)
        let record = folder.leftRecord(of: name)
        let spared = retention.spared(of: superfluous) { record.age(of: $0) }
        var pruned = Pruned()
        // A generation that stays for another reason does not count here.
        var free = superfluous.filter { spared[$0] == nil }
        for generation in free.reversed() {
            var isAwaited = false
            let isRemoved = try remove(generation) {
                isAwaited = awaited(of: free, retention)[generation] != nil
                return isAwaited
            }
            if isRemoved { pruned.removed.append(generation) } else { pruned.held.append(generation) }
            if !isAwaited { free.removeAll { $0 == generation } }
        }
        pruned.removed.reverse()
        pruned.held.reverse()
        pruned.rest = spared.values.max()
        pruned.restOfAwaited = awaited(of: free, retention).values.min()
        removeMarks()
        if record != .empty, record.isOver(grace: Retention.standardGrace) {
            try? folder.files.removeFile(layout.leftRecord(name))
        }
        if folder.leaseRecord(of: name)?.isOver() == true { try? folder.files.removeFile(layout.leaseRecord(name)) }
        return pruned
    }

    private borrowing func awaited(
        of superfluous: [GenerationName], _ retention: Retention
    ) -> [GenerationName: Duration] {
        let marks = folder.suspensionMarks(of: name)
        return retention.awaited(of: superfluous) { marks.age(of: $0) }
    }

    /// Removes the marks of suspended readers that count no more, or whose generation is gone.
    private borrowing func removeMarks() {
        let marks = folder.suspensionMarks(of: name)
        guard !marks.isEmpty, let kept = try? folder.generationNames(of: name) else { return }
        for mark in marks {
            let counts = mark.age().map { $0 < Retention.standardSuspensionGrace } ?? false
            if !counts || !kept.contains(mark.generation) { try? folder.remove(mark, of: name) }
        }
    }

    /// The generations that a pruning would remove, in the end.
    package borrowing func superfluous(_ retention: Retention) throws(InboxError) -> [GenerationName] {
        let now = Duration.seconds(Date().timeIntervalSince1970)
        let generations = layout.generations(name)
        let lease = folder.leaseRecord(of: name)
        let superfluous = retention.superfluous(of: try folder.generationNames(of: name), current: currentName) {
            generation in
            // An entry that is no generation counts as oldest.
            let status = try? folder.files.status(of: generations.appending(generation.text))
            return status.map { now - $0.modified } ?? .seconds(Int64.max)
        }
        return superfluous.filter { lease?.keeps($0) != true }
    }

    /// Moves the generation out of sight in one step, and then removes it: no reader ever finds half of one.
    ///
    /// - Parameter isAwaited: Asked once no reader holds it: one that is suspended leaves its mark first, and lets go then.
    /// - Returns: `false` if a reader holds it, or it is awaited.
    @discardableResult
    borrowing func remove(
        _ generation: GenerationName, unless isAwaited: () -> Bool = { false }
    ) throws(InboxError) -> Bool {
        let path = layout.generations(name).appending(generation.text)
        return try InboxError.wrapping { () throws(FileError) in
            guard try folder.files.status(of: path).kind == .folder else {
                try moveAway(path)
                return true
            }
            guard let lock = try FolderLock.take(.exclusive, on: path, in: folder.files) else { return false }
            guard !isAwaited() else { return false }
            try moveAway(path)
            // Until here: a reader that waits for the lock finds then that the folder has no name any more.
            _ = consume lock
            return true
        }
    }

    private borrowing func moveAway(_ path: FilePath) throws(FileError) {
        try folder.files.makeFolder(at: layout.staging(name))
        let aside = aside(.pruned)
        try folder.files.rename(path, to: aside)
        try folder.files.removeTree(at: aside)
    }
}

/// Removes generations that were kept because they were current a moment ago, or because a suspended reader might come back, once
/// that time is over. If its owner ends before, the next start removes them.
final class DelayedPruning: Sendable {
    let folder: InboxFolder
    let retention: Retention
    /// When a store will be looked at.
    private let waiting = Mutex<[StoreName: ContinuousClock.Instant]>([:])

    /// Until the next look, if another process is changing the store.
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
            let storeLock = try StoreLock(of: name, in: folder, timeout: .zero)
            schedule(name, in: try storeLock.prune(retention).nextLook)
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
        PlatformCalls.pause(rest)
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
                // Another process has removed the store since the folder was listed.
                guard case .noSuchStore = error else { throw error }
            }
        }
    }

    private func sweep(_ name: StoreName) throws(InboxError) {
        let storeLock = try StoreLock(of: name, in: folder)
        let layout = folder.layout
        try InboxError.wrapping { () throws(FileError) in try empty(layout.staging(name), of: name) }
        // Without a readable record it is unknown which generations were current once; the next shipment is refused for that.
        let record = try? storeLock.record()
        guard let current = folder.currentName(of: name) else {
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
        guard (try? folder.files.status(of: path))?.kind == .folder else { return }
        let kept = folder.waitingShipments(of: name).first?.path
        for name in try folder.files.names(in: path) where path.appending(text: name) != kept {
            try folder.files.removeTree(at: path.appending(text: name))
        }
    }
}
