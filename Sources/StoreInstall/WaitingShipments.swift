import EssentialFoundation
package import ShipProtocol
import StoreFiles
package import StoreInbox
package import SystemPackage

/// The shipments of an inbox that broke off and wait to be resumed: stagings with a `WaitingRecord`.
///
/// The receiver of a shipment holds a lock on its staging (flock). A staging without the lock, and with a record, waits.
extension InboxFolder {
    /// The waiting shipments of a store, the one that was written last first.
    package func waitingShipments(of name: StoreName) -> [WaitingShipment] {
        let staging = layout.staging(name)
        let names = (try? files.names(in: staging)) ?? []
        return names.compactMap { WaitingShipment(at: staging.appending($0), in: self) }
            .sorted { $0.record.at > $1.record.at }
    }

    /// Takes over what waits of a store.
    ///
    /// - Parameter producer: The device that resumes it; `nil` if it is unknown. Another device's shipment is never returned.
    /// - Returns: Locked; `nil` if there is none, or another session has it.
    func takeWaitingShipment(of name: StoreName, from producer: ContentDigest?) -> WaitingShipment? {
        waitingShipments(of: name).first { $0.record.producer == producer && $0.takesLock() }
    }

    /// Removes what waits of a store.
    ///
    /// - Parameters:
    ///   - kept: Stays.
    ///   - unreadable: Whether an unlocked staging goes too whose record cannot be read: it is litter for the owner of the inbox,
    ///     while no other shipment of the store comes in.
    ///   - isToGo: Is asked of each.
    /// - Returns: How much went that waited.
    @discardableResult
    package func removeWaitingShipments(
        of name: StoreName, except kept: FilePath? = nil, unreadable: Bool = false,
        where isToGo: (WaitingRecord) -> Bool = { _ in true }
    ) -> Int {
        let staging = layout.staging(name)
        var count = 0
        for entry in (try? files.names(in: staging)) ?? [] {
            let path = staging.appending(text: entry)
            guard path != kept else { continue }
            let record = WaitingRecord(ofStagingAt: path, in: files)
            guard record.map({ $0.isOver() || isToGo($0) }) ?? (unreadable && UUID(uuidString: entry) != nil),
                let lock = try? FolderLock.take(.exclusive, on: path, in: files)
            else { continue }
            if (try? files.removeTree(at: path)) != nil, record != nil { count += 1 }
            _ = consume lock
        }
        return count
    }

    /// The same of every store.
    @discardableResult
    package func removeAllWaitingShipments(where isToGo: (StoreName, WaitingRecord) -> Bool) -> Int {
        ((try? storeNames()) ?? []).reduce(0) { sum, name in
            sum + removeWaitingShipments(of: name) { isToGo(name, $0) }
        }
    }

    /// Removes what waits no more.
    package func removeExpiredShipments() { removeAllWaitingShipments { _, _ in false } }

    /// Removes what waits, where that makes room enough for a shipment.
    ///
    /// - Parameters:
    ///   - name: Of the store that comes: what waits of it goes last.
    ///   - bytes: That are missing.
    /// - Returns: Whether anything went.
    package func makeRoom(of bytes: Int64, for name: StoreName) -> Bool {
        let others = ((try? storeNames()) ?? []).filter { $0 != name }
        func size(of name: StoreName) -> Int64 { waitingShipments(of: name).reduce(0) { $0 + $1.bytes } }
        let (own, theirs) = (size(of: name), others.reduce(0) { $0 + size(of: $1) })
        guard own + theirs >= bytes else { return false }
        var count = others.reduce(0) { $0 + removeWaitingShipments(of: $1) }
        if theirs < bytes { count += removeWaitingShipments(of: name) }
        return count > 0
    }

    /// Whether a shipment of a store is coming in.
    func isComingIn(_ name: StoreName) -> Bool {
        let staging = layout.staging(name)
        return ((try? files.names(in: staging)) ?? []).contains { entry in
            do throws(FileError) {
                // As long as it is coming in, its receiver has its lock.
                let lock = try FolderLock.take(.exclusive, on: staging.appending(text: entry), in: files)
                let isFree = lock != nil
                _ = consume lock
                return !isFree
            } catch {
                return false
            }
        }
    }
}

/// A shipment that waits, and is locked once this process finds out how much of it can be resumed.
package final class WaitingShipment {
    /// Its staging.
    package let path: FilePath
    package let manifest: Manifest
    package let record: WaitingRecord
    /// Bytes of it that are here, by the sizes of its files; the store itself counts once it is complete.
    package let bytes: Int64
    private let inbox: InboxFolder
    private var lock: FolderLock?
    /// Parts that are here and of use, each as the manifest of the new shipment says.
    private(set) var wholeParts: Set<Int> = []
    /// The stream of another part that is of use, as far as it came.
    private(set) var stream: PartStream?

    /// - Returns: `nil` if nothing waits there.
    fileprivate init?(at path: FilePath, in inbox: InboxFolder) {
        guard let record = WaitingRecord(ofStagingAt: path, in: inbox.files), !record.isOver(),
            let staging = try? inbox.files.folder(at: path),
            let manifest = try? Generation(in: staging).manifest
        else { return nil }
        var bytes: Int64 = 0
        let stream = try? PartStream(at: path.appending(InboxLayout.streamFile), in: staging)
        for (index, part) in manifest.parts.enumerated() {
            if let stream, stream.header.sha256 == part.sha256 {
                bytes += stream.position
            } else {
                let path = path.appending(Generation.relativePath(ofPart: index, of: manifest).components)
                bytes += min(part.size, (try? staging.status(of: path))?.size ?? 0)
            }
        }
        self.path = path
        self.manifest = manifest
        self.record = record
        self.bytes = bytes
        self.inbox = inbox
    }

    /// - Returns: `false` if another session has it, or it is gone.
    fileprivate func takesLock() -> Bool {
        lock = try? FolderLock.take(.exclusive, on: path, in: inbox.files)
        guard let identity = try? lock?.file.status.identity,
            identity == (try? inbox.files.status(of: path).identity)
        else {
            lock = nil
            return false
        }
        return true
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
        guard folder.holds(streamPath), let stream = try PartStream(at: streamPath, in: folder),
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
