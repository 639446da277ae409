import EssentialFoundation
package import ShipProtocol
import StoreFiles
package import StoreInbox
package import SystemPackage

/// The shipments of an inbox that broke off, and wait to be gone on with: stagings with a `WaitingRecord`.
///
/// The staging of a shipment that is coming in is locked (flock). One that is not, and has a record, waits.
package struct WaitingShipments: Sendable {
    /// One of them.
    package struct Found: Hashable, Sendable {
        /// Its staging.
        package let path: FilePath
        package let manifest: Manifest
        package let record: WaitingRecord
        /// Bytes of it that are here, as far as its files say: the store itself counts once it is whole.
        package let bytes: Int64
    }

    private let folder: InboxFolder

    package init(in folder: InboxFolder) { self.folder = folder }

    /// What waits of a store, what was written last first.
    package func all(of name: StoreName) -> [Found] {
        let staging = folder.layout.staging(name)
        let names = (try? folder.files.names(in: staging)) ?? []
        return names.compactMap { find(at: staging.appending($0)) }.sorted { $0.record.at > $1.record.at }
    }

    private func find(at path: FilePath) -> Found? {
        guard let record = WaitingRecord(ofStagingAt: path, in: folder.files), !record.isOver(),
            let staging = try? folder.files.folder(at: path),
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
        return Found(path: path, manifest: manifest, record: record, bytes: bytes)
    }

    /// Takes over what waits of a store.
    ///
    /// - Parameter producer: The device that goes on with it; `nil` where nobody says which. Nothing of another one's is given.
    /// - Returns: `nil` if there is nothing, or somebody is at it.
    func take(_ name: StoreName, from producer: ContentDigest?) -> WaitingShipment? {
        for found in all(of: name) where found.record.producer == producer {
            if let shipment = WaitingShipment(found, in: folder) { return shipment }
        }
        return nil
    }

    /// What becomes of a staging that nobody has locked, and whose record cannot be read: for who owns the inbox, and is at no other
    /// shipment of the store, it is litter.
    package enum Unreadable: Hashable, Sendable { case stays, goes }

    /// Removes what waits of a store.
    ///
    /// - Parameters:
    ///   - kept: Stays.
    ///   - isToGo: Is asked of each.
    /// - Returns: How much went that waited.
    @discardableResult
    package func remove(
        of name: StoreName, except kept: FilePath? = nil, _ unreadable: Unreadable = .stays,
        where isToGo: (WaitingRecord) -> Bool = { _ in true }
    ) -> Int {
        let staging = folder.layout.staging(name)
        var count = 0
        for entry in (try? folder.files.names(in: staging)) ?? [] {
            let path = staging.appending(entry)
            guard path != kept else { continue }
            let record = WaitingRecord(ofStagingAt: path, in: folder.files)
            guard record.map({ $0.isOver() || isToGo($0) }) ?? (unreadable == .goes && UUID(uuidString: entry) != nil),
                let lock = try? FolderLock.take(.exclusive, on: path, in: folder.files)
            else { continue }
            if (try? folder.files.removeTree(at: path)) != nil, record != nil { count += 1 }
            _ = consume lock
        }
        return count
    }

    /// The same of every store.
    @discardableResult
    package func removeAll(where isToGo: (StoreName, WaitingRecord) -> Bool) -> Int {
        ((try? folder.storeNames()) ?? []).reduce(0) { sum, name in sum + remove(of: name) { isToGo(name, $0) } }
    }

    /// Removes what waits no more.
    package func removeOver() { removeAll { _, _ in false } }

    /// Removes what waits, where that makes room enough for a shipment.
    ///
    /// - Parameters:
    ///   - name: Of the store that comes: what waits of it goes last.
    ///   - bytes: That are missing.
    /// - Returns: Whether anything went.
    package func makeRoom(of bytes: Int64, for name: StoreName) -> Bool {
        let others = ((try? folder.storeNames()) ?? []).filter { $0 != name }
        func size(of name: StoreName) -> Int64 { all(of: name).reduce(0) { $0 + $1.bytes } }
        let (own, theirs) = (size(of: name), others.reduce(0) { $0 + size(of: $1) })
        guard own + theirs >= bytes else { return false }
        var count = others.reduce(0) { $0 + remove(of: $1) }
        if theirs < bytes { count += remove(of: name) }
        return count > 0
    }

    /// Whether a shipment of a store is coming in.
    func isComingIn(_ name: StoreName) -> Bool {
        let staging = folder.layout.staging(name)
        return ((try? folder.files.names(in: staging)) ?? []).contains { entry in
            do throws(FileError) {
                // As long as it is coming in, its receiver has its lock.
                let lock = try FolderLock.take(.exclusive, on: staging.appending(entry), in: folder.files)
                let isFree = lock != nil
                _ = consume lock
                return !isFree
            } catch {
                return false
            }
        }
    }
}

/// A shipment that waited, while it is looked at what of it can be gone on with. Its staging is nobody else's.
final class WaitingShipment {
    let path: FilePath
    private let inbox: InboxFolder
    private var lock: FolderLock?

    fileprivate init?(_ found: WaitingShipments.Found, in folder: InboxFolder) {
        lock = try? FolderLock.take(.exclusive, on: found.path, in: folder.files)
        path = found.path
        inbox = folder
        guard let identity = try? lock?.file.status.identity,
            identity == (try? folder.files.status(of: found.path).identity)
        else { return nil }
    }

    /// What is of use to a new shipment.
    struct Use {
        /// Parts that are here, each as its manifest says.
        var whole: Set<Int> = []
        /// What there is of the stream of one.
        var stream: PartStream?

        var isNone: Bool { whole.isEmpty && stream == nil }
    }

    /// - Parameter present: Parts of which a generation's own file will do.
    /// - Throws: `.file`; `.canceled` with its task.
    func use(for manifest: Manifest, having present: Set<Int>) throws(InboxError) -> Use {
        try InboxError.wrapping { () throws(FileError) in
            let folder = try inbox.files.folder(at: path)
            var use = Use()
            for (index, part) in manifest.parts.enumerated() where part.size > 0 && !present.contains(index) {
                let path = path.appending(Generation.relativePath(ofPart: index, of: manifest).components)
                guard let status = try? folder.status(of: path), status.kind == .file, status.size == part.size,
                    status.links == 1
                else { continue }
                let file = try folder.file(at: path)
                if try FileDigest.sha256(of: file) == part.sha256 { use.whole.insert(index) }
            }
            let streamPath = path.appending(InboxLayout.streamFile)
            guard folder.holds(streamPath), let stream = try PartStream(at: streamPath, in: folder),
                stream.position > 0
            else { return use }
            let isWanted = manifest.parts.indices.contains { index in
                let part = manifest.parts[index]
                return part.sha256 == stream.header.sha256 && part.size == stream.header.size
                    && !use.whole.contains(index) && !present.contains(index)
            }
            if isWanted { use.stream = stream }
            return use
        }
    }

    /// Removes all that is not of use.
    func clear(for manifest: Manifest, but use: Use) throws(InboxError) {
        try InboxError.wrapping { () throws(FileError) in
            let folder = try inbox.files.folder(at: path)
            var kept: Set<FilePath> = [
                path.appending(InboxLayout.waitingFile), path.appending(InboxLayout.manifestFile),
            ]
            if use.stream != nil { kept.insert(path.appending(InboxLayout.streamFile)) }
            for index in use.whole {
                kept.insert(path.appending(Generation.relativePath(ofPart: index, of: manifest).components))
            }
            try Self.clear(path, of: folder, but: kept)
        }
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

    /// The lock goes over to whoever goes on with it.
    func takeLock() -> FolderLock? { lock.take() }
}
