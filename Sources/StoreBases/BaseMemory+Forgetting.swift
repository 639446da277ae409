package import ShipProtocol
import StoreFiles
package import SystemPackage

extension BaseMemory {
    /// What is to be forgotten.
    package enum Subject: Hashable, Sendable {
        case all
        case name(StoreName)
        case key(BaseKey)
        /// Whatever went of the store at a path, under whatever names: absolute, and without symbolic links.
        case store(FilePath)

        fileprivate func includes(_ key: BaseKey) -> Bool {
            switch self {
            case .all: true
            case .name(let name): key.name == name
            case .key(let one): key == one
            case .store(let path): key.store == path
            }
        }
    }

    /// The files go first, also where there is no room to write down that they have gone; and with them what senders have left that
    /// were killed while they made a copy.
    ///
    /// - Returns: What is forgotten now.
    /// - Throws: Among others `.busy`; then nothing has gone. `.stillThere` for a file that is not needed any more, and that somebody
    ///   reads, or that cannot be removed: it goes when the memory is changed the next time.
    package func forget(_ subject: Subject) throws(BaseMemoryError) -> [BaseRecord] {
        // Nothing waits for a lock where there is nothing to forget.
        let index = try index()
        if try open() != nil { TemporaryFolder.sweep(folder, .temporary) }
        let isNeeded = subject == .all ? !index.isEmpty : index.entries.contains { subject.includes($0.key) }
        guard isNeeded || !index.unused.isEmpty || !index.unusedStreams.isEmpty else { return [] }
        return try whileLocked { (change) throws(BaseMemoryError) in
            let before = change.index
            let going = change.index.remove { subject.includes($0.key) }
            change.removeUnused()
            if change.index != before { try change.save() }
            change.removeIfEmpty()
            if let left = change.index.unused.first { throw .stillThere(change.path(of: left)) }
            if let left = change.index.unusedStreams.first { throw .stillThere(change.path(of: left)) }
            return going.sorted { $0.use > $1.use }.compactMap { BaseRecord($0, in: before, of: self) }
        } ?? []
    }

    /// Forgets whatever is remembered of a store, as it is about to go.
    ///
    /// - Parameter store: Absolute, and without symbolic links.
    package func erase(storeAt store: FilePath) throws(BaseMemoryError) -> [BaseRecord] { try forget(.store(store)) }

    /// Forgets some copies, if that can be done at once.
    package func forget(_ copies: some Sequence<RememberedCopy>) {
        let going = Set(copies.map(\.record.entry))
        guard !going.isEmpty else { return }
        _ = try? whileLocked(waiting: .milliseconds(100)) { (change) throws(BaseMemoryError) in
            _ = change.index.remove { going.contains($0) }
            change.removeUnused()
            try change.save()
        }
    }

    /// Removes what others have left that were killed, what has waited for too long to be gone on with, and what is not needed any more,
    /// if that can be done at once.
    package func tidy() {
        guard (try? open()) != nil, let before = try? index() else { return }
        TemporaryFolder.sweep(folder, .temporary)
        _ = try? whileLocked(waiting: .milliseconds(100)) { (change) throws(BaseMemoryError) in
            if change.index != before { try change.save() }
            change.removeIfEmpty()
        }
    }

    /// What is remembered of a store is of the one that it has become by being moved.
    package func follow(from source: FilePath, to target: FilePath) throws(BaseMemoryError) {
        guard try index().entries.contains(where: { $0.key.store == source }) else { return }
        _ = try whileLocked { (change) throws(BaseMemoryError) in
            guard change.index.move(from: source, to: target) else { return }
            try change.save()
            change.removeUnused()
        }
    }
}
