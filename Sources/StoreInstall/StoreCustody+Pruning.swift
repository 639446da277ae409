import FoundationEssentials
import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

/// Old generations go. A reader that has a file of one open keeps it until it closes it; one that holds the folder's lock
/// keeps the generation.
extension StoreCustody {
    /// - Returns: What went, and what was to go and is held by a reader: it goes at the next pruning.
    @discardableResult
    package borrowing func prune(_ retention: Retention) throws(InboxError) -> (
        removed: [GenerationName], held: [GenerationName]
    ) {
        var (removed, held): ([GenerationName], [GenerationName]) = ([], [])
        for generation in try superfluous(retention) {
            if try remove(generation) { removed.append(generation) } else { held.append(generation) }
        }
        return (removed, held)
    }

    /// What a pruning would remove.
    package borrowing func superfluous(_ retention: Retention) throws(InboxError) -> [GenerationName] {
        let now = Duration.seconds(Date().timeIntervalSince1970)
        let generations = layout.generations(name)
        return retention.superfluous(of: try folder.generationNames(of: name), current: currentName) { generation in
            // What is no generation at all is as old as can be.
            let status = try? folder.files.status(of: generations.appending(generation.text))
            return status.map { now - $0.modified } ?? .seconds(Int64.max)
        }
    }

    /// Moves the generation out of sight in one step, so that nobody ever finds half of one, and then removes it.
    ///
    /// - Returns: `false` if a reader holds it.
    @discardableResult
    borrowing func remove(_ generation: GenerationName) throws(InboxError) -> Bool {
        let path = layout.generations(name).appending(generation.text)
        return try InboxError.wrapping { () throws(FileError) in
            guard try folder.files.status(of: path).kind == .folder else {
                try moveAway(path)
                return true
            }
            guard let lock = try FolderLock.take(.exclusive, on: path, in: folder.files) else { return false }
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
