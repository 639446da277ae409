package import ShipProtocol
import StoreFiles
package import StoreInbox
package import SystemPackage

/// A shipment that waits, and is locked once this process finds out how much of it can be resumed.
package final class WaitingShipment {
    /// Its staging.
    package let path: FilePath
    package let manifest: Manifest
    package let record: WaitingRecord
    /// Bytes of it that are here, by the sizes of its files; the store itself counts once it is complete.
    package let bytes: Int64
    /// Those that its removal frees: of files that no generation has as well.
    let ownBytes: Int64
    private let inbox: InboxFolder
    private var lock: FolderLock?
    /// Parts that are here and of use, each as the manifest of the new shipment says.
    private(set) var wholeParts: Set<Int> = []
    /// The stream of another part that is of use, as far as it came.
    private(set) var stream: PartStream?

    /// - Returns: `nil` if nothing waits there.
    init?(at path: FilePath, in inbox: InboxFolder) {
        guard let record = WaitingRecord(ofStagingAt: path, in: inbox.files), !record.isOver(),
            let staging = try? inbox.files.folder(at: path),
            let manifest = try? Generation(in: staging).manifest
        else { return nil }
        var (bytes, ownBytes): (Int64, Int64) = (0, 0)
        let stream = try? PartStream(at: path.appending(InboxLayout.streamFile), in: staging)
        for (index, part) in manifest.parts.enumerated() {
            if let stream, stream.header.sha256 == part.sha256 {
                bytes += stream.position
                ownBytes += stream.position
            } else {
                let path = path.appending(Generation.relativePath(ofPart: index, of: manifest).components)
                guard let status = try? staging.status(of: path) else { continue }
                bytes += min(part.size, status.size)
                if status.links == 1 { ownBytes += status.size }
            }
        }
        self.path = path
        self.manifest = manifest
        self.record = record
        (self.bytes, self.ownBytes) = (bytes, ownBytes)
        self.inbox = inbox
    }

    /// - Returns: `false` if another session has it, or it is gone.
    func takesLock() -> Bool {
        lock = inbox.lockStaging(at: path, with: record)
        return lock != nil
    }

    /// Finds what a new shipment can use, and removes the rest if there is something.
    ///
    /// - Parameter present: Parts for which a generation has the file.
    /// - Returns: Whether anything is of use.
    /// - Throws: `.file`; `.canceled` with its task.
    func keepUse(for manifest: Manifest, having present: Set<Int>) throws(InboxError) -> Bool {
        try InboxError.wrapping { () throws(FileError) in
            let folder = try inbox.files.folder(at: path)
            try find(for: manifest, having: present, in: folder)
            guard !wholeParts.isEmpty || stream != nil else { return false }
            try clear(for: manifest, folder)
            return true
        }
    }

    private func find(
        for manifest: Manifest, having present: Set<Int>, in folder: borrowing OpenFolder
    ) throws(FileError) {
        for (index, part) in manifest.parts.enumerated() where part.size > 0 && !present.contains(index) {
            let path = path.appending(Generation.relativePath(ofPart: index, of: manifest).components)
            guard let status = try? folder.status(of: path), status.kind == .file, status.size == part.size,
                status.links == 1
            else { continue }
            let file = try folder.file(at: path)
            if try ContentDigest(ofFile: file) == part.sha256 { wholeParts.insert(index) }
        }
        let streamPath = path.appending(InboxLayout.streamFile)
        guard try folder.holds(streamPath), let stream = try PartStream(at: streamPath, in: folder),
            stream.position > 0
        else { return }
        let isWanted = manifest.parts.indices.contains { index in
            let part = manifest.parts[index]
            return part.sha256 == stream.header.sha256 && part.size == stream.header.size
                && !wholeParts.contains(index) && !present.contains(index)
        }
        if isWanted { self.stream = stream }
    }

    /// Removes all that is not of use.
    private func clear(for manifest: Manifest, _ folder: borrowing OpenFolder) throws(FileError) {
        var kept: Set<FilePath> = [
            path.appending(InboxLayout.waitingFile), path.appending(InboxLayout.manifestFile),
        ]
        if stream != nil { kept.insert(path.appending(InboxLayout.streamFile)) }
        for index in wholeParts {
            kept.insert(path.appending(Generation.relativePath(ofPart: index, of: manifest).components))
        }
        try Self.clear(path, of: folder, but: kept)
    }

    private static func clear(
        _ path: FilePath, of folder: borrowing OpenFolder, but kept: Set<FilePath>
    ) throws(FileError) {
        for component in try folder.components(in: path) {
            let place = path.appending(component)
            if kept.contains(place) { continue }
            if kept.contains(where: { $0.starts(with: place) }) {
                try clear(place, of: folder, but: kept)
            } else {
                try folder.removeTree(at: place)
            }
        }
    }

    /// Hands the lock over to the session that resumes it.
    func takeLock() -> FolderLock? { lock.take() }
}
