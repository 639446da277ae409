package import ShipProtocol
import StoreFiles
package import SystemPackage

/// A remembered copy that has been read through and is what it was. It stays until this value goes, whoever wants its room.
package final class OpenedBase: Sendable {
    /// Where to read it.
    package let path: FilePath
    private let file: OpenFile

    fileprivate init(_ file: consuming OpenFile) {
        path = file.path
        self.file = file
    }
}

extension RememberedCopy {
    /// Reads the whole copy, and keeps it from being removed. One that is damaged or gone is remembered no more.
    ///
    /// - Parameter isCancelled: Asked again and again while it is read.
    /// - Returns: `nil` if it is not what it was, or cannot be read now.
    package func open(unless isCancelled: () -> Bool = { Task.isCancelled }) -> OpenedBase? {
        switch look(at: record.path, record.size, record.sha256, unless: isCancelled) {
        case .whole(let file):
            memory.markUsed(self)
            return OpenedBase(file)
        case .bad:
            memory.forgetDamaged(record.entry.copy)
            return nil
        case .unknown: return nil
        }
    }

    /// The same with an external file of the copy, of which nothing else is forgotten.
    ///
    /// - Returns: `nil` also if it is not remembered.
    package func open(_ file: ExternalFile, unless isCancelled: () -> Bool = { Task.isCancelled }) -> OpenedBase? {
        guard let object = record.files.first(where: { $0.sha256 == file.sha256 }) else { return nil }
        let path = memory.folder.appending(BaseMemory.objectFolder).appending(object.id)
        switch look(at: path, object.size, object.sha256, unless: isCancelled) {
        case .whole(let file): return OpenedBase(file)
        case .bad:
            memory.forgetDamaged(object.id)
            return nil
        case .unknown: return nil
        }
    }

    private enum Finding: ~Copyable {
        case whole(OpenFile)
        /// It is not there, or not the one that was remembered.
        case bad
        case unknown
    }

    private func look(
        at path: FilePath, _ size: Int64, _ sha256: ContentDigest, unless isCancelled: () -> Bool
    ) -> Finding {
        guard let folder = try? memory.open() else { return .unknown }
        do throws(FileError) {
            let file = try folder.file(at: path)
            // From here on nobody removes it. Whoever is about to has the lock.
            guard try PlatformCalls.tryLock(file.descriptor, path, .shared) else { return .unknown }
            let status = try file.status
            guard try folder.status(of: path).identity == status.identity, status.exposure == nil, status.size == size
            else { return .bad }
            guard try FileDigest.sha256(of: file, unless: isCancelled) == sha256 else { return .bad }
            return .whole(file)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .invalidArgument, .tooManySymbolicLinkLevels: return .bad
            default: return .unknown
            }
        }
    }
}

extension BaseMemory {
    /// The copy is of use: others go before it.
    package func markUsed(_ copy: RememberedCopy) {
        _ = try? whileLocked(waiting: .milliseconds(100)) { (change) throws(BaseMemoryError) in
            if change.index.use(copy.record.entry) { try change.save() }
        }
    }

    /// What builds on the file is forgotten, and the file goes if it is the one that was put there.
    func forgetDamaged(_ object: String) {
        _ = try? whileLocked { (change) throws(BaseMemoryError) in
            guard let object = change.index.object(object) else { return }
            change.drop(object)
            change.removeUnused()
            try change.save()
        }
    }
}
