package import ShipProtocol
import StoreFiles
package import SystemPackage

/// A remembered copy, and what was said of it.
package struct RememberedCopy: Hashable, Sendable {
    package let record: BaseRecord
    /// The manifest as it was acknowledged, or offered.
    package let manifest: Manifest
    package let content: ManifestContent

    let memory: BaseMemory

    /// The state that was given with it.
    package var state: [UInt8]? { record.entry.state.map(Array.init) }
    package var receiver: String { record.receiver }
    package var files: [ExternalFile] {
        let known = Set(record.files.map(\.sha256))
        return manifest.externalFiles.filter { known.contains($0.sha256) }
    }
}

/// A remembered copy, or an external file of one, that is what it was: on a disk its digest has been verified. The file stays at least as
/// long as this object.
package final class OpenedBase: Sendable {
    package let path: FilePath
    private let file: OpenFile

    fileprivate init(_ file: consuming OpenFile) {
        path = file.path
        self.file = file
    }
}

extension RememberedCopy {
    /// Reads the whole copy, unless it is in RAM, and keeps it from being removed. A copy that is damaged or gone is forgotten.
    ///
    /// - Parameter isCancelled: Asked again and again while the file is read.
    /// - Returns: `nil` if it is not what it was, or cannot be read now.
    package func open(unless isCancelled: () -> Bool = { Task.isCancelled }) -> OpenedBase? {
        let opened = open(record.entry.copy, record.size, record.sha256, unless: isCancelled)
        if opened != nil { memory.markUsed(self) }
        return opened
    }

    /// Does the same with an external file of the copy. If that is damaged, nothing else is forgotten.
    ///
    /// - Returns: `nil` also if the file is not remembered.
    package func open(_ file: ExternalFile, unless isCancelled: () -> Bool = { Task.isCancelled }) -> OpenedBase? {
        guard let object = record.files.first(where: { $0.sha256 == file.sha256 }) else { return nil }
        return open(object.id, object.size, object.sha256, unless: isCancelled)
    }

    private func open(
        _ object: String, _ size: Int64, _ sha256: ContentDigest, unless isCancelled: () -> Bool
    ) -> OpenedBase? {
        guard let folder = try? memory.open() else { return nil }
        let path = memory.path(ofObject: object)
        do throws(FileError) {
            let file = try folder.file(at: path)
            // From here on no other process removes it: for that it would need the lock.
            guard try PlatformCalls.tryLock(file.descriptor, path, .shared) else { return nil }
            let status = try file.status
            if try folder.status(of: path).identity == status.identity, status.exposure == nil, status.size == size,
                memory.isInRAM ? true : try ContentDigest(ofFile: file, unless: isCancelled) == sha256
            {
                return OpenedBase(file)
            }
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .invalidArgument, .tooManySymbolicLinkLevels: break
            default: return nil
            }
        }
        // Its lock is released by now.
        memory.forgetDamaged(object)
        return nil
    }
}

extension BaseMemory {
    /// Everything that is remembered, the record that was used last first.
    ///
    /// - Throws: `.exposed`, `.otherOwner`, `.notPlain`, `.damaged`, `.file`.
    public func records() throws(BaseMemoryError) -> [BaseRecord] {
        let index = try index()
        let records = index.entries.sorted { $0.use > $1.use }.compactMap { BaseRecord($0, in: index, of: self) }
        return records.filter { record in
            let status = try? PlatformCalls.status(of: record.path)
            return status?.kind == .file && status?.size == record.size
        }
    }

    /// The acknowledged and the pinned copies of a store, the one that was used last first. Only the manifests are read.
    ///
    /// - Returns: `[]` if the memory cannot be read.
    package func copies(of key: BaseKey) -> [RememberedCopy] { copies(of: key) { !$0.isUnfinished } }

    func copies(of key: BaseKey, where isWanted: (BaseIndex.Entry) -> Bool) -> [RememberedCopy] {
        guard let opened = try? open(), let index = try? Self.index(in: opened) else { return [] }
        // Many receivers may have the same copy: its files are looked at once.
        var known: [[String]: (Manifest, ManifestContent)?] = [:]
        return index.entries.filter { $0.isBase(for: key) && isWanted($0) }.sorted { $0.use > $1.use }.compactMap {
            entry in
            guard let record = BaseRecord(entry, in: index, of: self), let object = index.object(entry.manifest)
            else { return nil }
            let files = [entry.copy, entry.manifest]
            if known[files] == nil {
                known.updateValue(Self.manifest(object, of: record, in: opened), forKey: files)
            }
            guard let (manifest, content) = known[files] ?? nil else { return nil }
            return RememberedCopy(record: record, manifest: manifest, content: content, memory: self)
        }
    }

    /// - Returns: `nil` if it, or the copy, is not as it was put there.
    private static func manifest(
        _ object: BaseIndex.Object, of record: BaseRecord, in folder: borrowing OpenFolder
    ) -> (Manifest, ManifestContent)? {
        guard object.size <= Int64(Limits.manifestSize) else { return nil }
        let path = folder.path.appending(objectFolder).appending(object.id)
        guard let file = try? folder.file(at: path), let bytes = try? file.read(Int(object.size), at: 0),
            ContentDigest(hashing: bytes) == object.sha256
        else { return nil }
        let found = try? decodedManifests.value(of: bytes) {
            let manifest = try Manifest(decoding: $0)
            return (manifest, ManifestContent(of: manifest))
        }
        guard let manifest = found?.0, manifest.store.sha256 == record.sha256, manifest.store.size == record.size,
            manifest.name == record.key.name, let status = try? folder.status(of: record.path), status.kind == .file,
            status.size == record.size
        else { return nil }
        return found
    }

    private static let decodedManifests = DecodedOnce<(Manifest, ManifestContent)>()

    /// Marks a copy as used last: others are forgotten before it.
    package func markUsed(_ copy: RememberedCopy) {
        _ = try? whileLocked(waiting: .milliseconds(100)) { (change) throws(BaseMemoryError) in
            if change.index.use(copy.record.entry) { try change.save() }
        }
    }

    /// Forgets every copy that needs the file, and removes the file if it is the one that was put there.
    func forgetDamaged(_ object: String) {
        _ = try? whileLocked { (change) throws(BaseMemoryError) in
            guard let object = change.index.object(object) else { return }
            change.drop(object)
            change.removeUnused()
            try change.save()
        }
    }
}
