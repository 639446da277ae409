import StoreFiles
package import SystemPackage

extension BaseMemory {
    /// Removes the files first, and the entries after that: so it works on a full disk too. It also removes what killed senders have
    /// left of copies that they were making.
    ///
    /// - Parameter isToGo: What is to be forgotten.
    /// - Returns: What is forgotten now.
    /// - Throws: Among others `.busy`; then nothing has been removed. `.stillThere` for a file that another process reads, or that
    ///   cannot be removed: the next change of the memory removes it.
    package func forget(where isToGo: (BaseKey) -> Bool) throws(BaseMemoryError) -> [BaseRecord] {
        guard try open() != nil else { return [] }
        sweep()
        return try whileLocked { (change) throws(BaseMemoryError) in
            let before = change.index
            let going = change.index.remove { isToGo($0.key) }
            _ = change.index.removeSent(where: isToGo)
            change.removeUnused()
            // Files that come back with a power cut have to be listed then; a process may have been killed before it did so.
            try BaseMemoryError.wrapping { () throws(FileError) in
                if try change.folder.holds(change.objectFolder) { try change.folder.sync(change.objectFolder) }
                try change.folder.sync(folder)
            }
            if change.isChanged { try change.save() }
            change.removeIfEmpty()
            if let left = change.index.unused.first { throw .stillThere(change.path(of: left)) }
            if let left = change.index.unusedStreams.first { throw .stillThere(change.path(of: left)) }
            return going.sorted { $0.use > $1.use }.compactMap { BaseRecord($0, in: before, of: self) }
        } ?? []
    }

    /// Forgets everything, also files that the index does not list because it was lost.
    package func forgetEverything() throws(BaseMemoryError) -> [BaseRecord] {
        let gone = try forget { _ in true }
        _ = try whileLocked { (change) throws(BaseMemoryError) in
            change.removeUnlisted()
            change.removeIfEmpty()
        }
        return gone
    }

    /// Removes what killed processes have left, on the disk and in RAM.
    private func sweep() {
        for place in [folder, SharedMemory.folder] { TemporaryFolder.sweep(place, .temporary) }
    }

    /// Forgets everything of a store that is about to be destroyed, under all names, by its path as `PathText` has it.
    package func erase(storeAt store: FilePath) throws(BaseMemoryError) -> [BaseRecord] {
        try forget { $0.store == store }
    }

    /// Forgets some copies, if the lock is free soon.
    package func forget(_ copies: some Sequence<RememberedCopy>) {
        let going = Set(copies.map(\.record.entry))
        guard !going.isEmpty else { return }
        _ = try? whileLocked(waiting: .milliseconds(100)) { (change) throws(BaseMemoryError) in
            _ = change.index.remove { going.contains($0) }
            change.removeUnused()
            try change.save()
        }
    }

    /// Removes what killed processes have left, unfinished shipments that have expired, and files that no entry needs, if the lock is
    /// free soon.
    package func tidy() {
        guard (try? open()) != nil else { return }
        sweep()
        _ = try? whileLocked(waiting: .milliseconds(100)) { (change) throws(BaseMemoryError) in
            if change.isChanged { try change.save() }
            change.removeIfEmpty()
        }
    }

    /// Makes what is remembered of a store that of the same store at its new place.
    package func follow(from source: FilePath, to target: FilePath) throws(BaseMemoryError) {
        var rest = try index()
        guard rest.move(from: source, to: target) else { return }
        _ = try whileLocked { (change) throws(BaseMemoryError) in
            guard change.index.move(from: source, to: target) else { return }
            try change.save()
            change.removeUnused()
        }
    }
}
