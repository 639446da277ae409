import EssentialFoundation
import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

/// Old generations go. A reader that has a file of one open keeps it until it closes it; one that holds the folder's lock
/// keeps the generation, and one that was suspended has it kept for a while.
extension StoreLock {
    /// The result of a pruning.
    package struct Pruned: Hashable, Sendable {
        package internal(set) var removed: [GenerationName] = []
        /// To go, and held by a reader, or awaited by one that is suspended: it goes at a later pruning.
        package internal(set) var held: [GenerationName] = []
        /// After how long what was current until a moment ago may go too; `nil` if nothing stays for that reason.
        package internal(set) var rest: Duration?
        /// After how long one may go for which a suspended reader waits; `nil` if none does.
        var restOfAwaited: Duration?

        /// After how long there is something to remove; `nil` for nothing.
        var nextLook: Duration? { [rest, restOfAwaited].compactMap(\.self).min() }
    }

    /// - Parameter spares: What is kept of what goes; `nil` for nothing.
    @discardableResult
    package borrowing func prune(_ retention: Retention, keeping spares: SpareFiles? = nil) throws(InboxError) -> Pruned
    {
        let superfluous = try superfluous(retention)
        let record = folder.leftRecord(of: name)
        let replaced = replaced(among: superfluous, by: try currentName)
        let spared = retention.spared(of: superfluous.filter { $0 != replaced }) { record.age(of: $0) }
        var pruned = Pruned()
        // A generation that stays for another reason does not count here.
        var free = superfluous.filter { spared[$0] == nil }
        for generation in free.reversed() {
            var isAwaited = false
            let isRemoved = try remove(generation, keeping: generation == replaced ? nil : spares) {
                isAwaited = awaited(of: free, retention)[generation] != nil
                return isAwaited
            }
            if isRemoved { pruned.removed.append(generation) } else { pruned.held.append(generation) }
            if !isAwaited, let place = free.lastIndex(of: generation) { free.remove(at: place) }
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
        return marks.isEmpty ? [:] : retention.awaited(of: superfluous) { marks.age(of: $0) }
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
        let current = try currentName
        let names = try folder.generationNames(of: name)
        let replaced = replaced(among: names, by: current)
        // One that is newer than the current one may be gone forward to, and the next shipment most likely builds on it.
        let refused = (try? record())?.refused.map(\.generation) ?? []
        let rejected = Set(refused.filter { $0 < current?.number ?? 0 })
        let old = Set(
            retention.superfluous(of: names.filter { $0 != replaced }, current: current, rejected: rejected) {
                // An entry that is no generation counts as oldest.
                let status = try? folder.files.status(of: generations.appending($0.text))
                return status.map { now - $0.modified } ?? .seconds(Int64.max)
            })
        return names.filter { (old.contains($0) || $0 == replaced) && lease?.keeps($0) != true }
    }

    /// The generation before the current one, if that has come in its place because it was damaged: there is nothing to go back to in it.
    private borrowing func replaced(among names: [GenerationName], by current: GenerationName?) -> GenerationName? {
        guard let current, let before = names.last(where: { $0.number < current.number }),
            before.digestStart == current.digestStart,
            let manifest = try? folder.generation(current, of: name).manifest
        else { return nil }
        do throws(InboxError) {
            let generation = try folder.generation(before, of: name)
            if generation.manifest.hasSameContent(as: manifest) { try generation.compareWithManifest() }
            return nil
        } catch {
            // A look that fails proves nothing.
            switch error {
            case .mismatch, .badManifest: return before
            case .file(let error): return error.isOfAbsence ? before : nil
            default: return nil
            }
        }
    }

    /// Moves the generation out of sight in one step, and then removes it: no reader ever finds half of one.
    ///
    /// - Parameter isAwaited: Asked once no reader holds it: one that is suspended leaves its mark first, and lets go then.
    /// - Returns: `false` if a reader holds it, or it is awaited.
    @discardableResult
    borrowing func remove(
        _ generation: GenerationName, keeping spares: SpareFiles? = nil, unless isAwaited: () -> Bool = { false }
    ) throws(InboxError) -> Bool {
        let path = layout.generations(name).appending(generation.text)
        return try InboxError.wrapping { () throws(FileError) in
            guard try folder.files.status(of: path).kind == .folder else {
                try moveAway(path)
                return true
            }
            guard let lock = try FolderLock.takeSoon(.exclusive, on: path, in: folder.files) else { return false }
            guard !isAwaited() else { return false }
            try moveAway(path, keeping: spares)
            // Until here: a reader that waits for the lock finds then that the folder has no name any more.
            _ = consume lock
            return true
        }
    }

    private borrowing func moveAway(_ path: FilePath, keeping spares: SpareFiles? = nil) throws(FileError) {
        try folder.files.makeFolder(at: layout.staging(name))
        let aside = aside(.pruned)
        try folder.files.rename(path, to: aside)
        spares?.keep(storeOf: aside, self)
        try folder.files.removeTree(at: aside)
    }
}
