import EssentialFoundation
import ShipProtocol
import StoreFiles
import SystemPackage

/// The memory while this process alone may change it: its index, and the files that the index lists.
struct MemoryChange: ~Copyable {
    let folder: OpenFolder
    var index: BaseIndex
    /// The index as it was read under the lock.
    private let read: BaseIndex
    private let lock: FolderLock

    init(_ folder: consuming OpenFolder, _ index: BaseIndex, holding lock: consuming FolderLock) {
        self.folder = folder
        self.index = index
        read = index
        self.lock = lock
    }

    /// Whether the index is to be written.
    var isChanged: Bool { index != read }

    var objectFolder: FilePath { folder.path.appending(BaseMemory.objectFolder) }

    func path(of object: BaseIndex.Object) -> FilePath { objectFolder.appending(object.id) }

    func path(of stream: BaseIndex.Stream) -> FilePath { objectFolder.appending(stream.id) }

    /// Drops objects whose files are missing or changed, and streams that have expired; and removes the files that no entry needs.
    mutating func settle() {
        // Opened once for all of them.
        if let objects = try? folder.folder(at: objectFolder) {
            for object in index.objects where !isThere(object, in: objects) { drop(object) }
        } else {
            for object in index.objects { drop(object) }
        }
        for stream in index.streams { settle(stream) }
        removeUnused()
    }

    /// Leaves a stream alone that another process writes, and one that cannot be looked at.
    private mutating func settle(_ stream: BaseIndex.Stream) {
        let path = path(of: stream)
        do throws(FileError) {
            guard let status = try folder.statusIfThere(of: path), stream.isIn(status) else {
                // A file that has its name now is not ours.
                return index.drop(stream)
            }
            let file = try folder.file(at: path)
            guard try PlatformCalls.tryLock(file.descriptor, path) else { return }
            if BaseMemory.isExpired(status) {
                _ = index.remove { $0.stream == stream.id }
            } else {
                index.give(status.size, to: stream)
            }
        } catch {
            return
        }
    }

    func isThere(_ object: BaseIndex.Object) -> Bool { isThere(object, in: folder) }

    /// Whether a file is there that may be the object; only its digest proves it.
    private func isThere(_ object: BaseIndex.Object, in folder: borrowing OpenFolder) -> Bool {
        guard let status = try? folder.status(of: path(of: object)) else { return false }
        return status.kind == .file && status.size == object.size
    }

    /// Removes an object that cannot be used any more from the index, and its file if that is ours.
    mutating func drop(_ object: BaseIndex.Object) {
        if remove(object) { index.drop(object) }
    }

    /// Removes the files that no entry needs. A file that another process reads stays until the next change.
    mutating func removeUnused() {
        for object in index.unused where remove(object) { index.drop(object) }
        for stream in index.unusedStreams where remove(stream) { index.drop(stream) }
    }

    /// Removes what has the name and the form of our files, and is not listed: ours are, before they are there.
    func removeUnlisted() {
        let listed = Set(index.objects.map(\.id) + index.streams.map(\.id))
        for name in (try? folder.names(in: objectFolder)) ?? []
        where UUID(uuidString: name)?.uuidString == name && !listed.contains(name) {
            _ = remove(objectFolder.appending(text: name)) { status, _ in status.links == 1 && status.exposure == nil }
        }
    }

    private func remove(_ object: BaseIndex.Object) -> Bool {
        remove(path(of: object)) { status, file throws(FileError) in
            if status.inode == object.inode { return true }
            guard status.size == object.size else { return false }
            return try ContentDigest(ofFile: file) == object.sha256
        }
    }

    /// - Parameter isLocked: Whether the caller has locked it.
    func remove(_ stream: BaseIndex.Stream, isLocked: Bool = false) -> Bool {
        remove(path(of: stream), isLocked: isLocked) { status, _ in stream.isIn(status) }
    }

    /// - Parameter isOurs: Another file may have taken the name: it is not ours to remove.
    /// - Returns: Whether nothing of ours is there any more: an error of the system proves nothing.
    private func remove(
        _ path: FilePath, isLocked: Bool = false,
        ifOurs isOurs: (FileStatus, borrowing OpenFile) throws(FileError) -> Bool
    ) -> Bool {
        do throws(FileError) {
            guard let status = try folder.statusIfThere(of: path), status.kind == .file,
                status.owner == PlatformCalls.effectiveUser
            else { return true }
            let file = try folder.file(at: path)
            guard try isOurs(status, file) else { return true }
            if !isLocked, try !PlatformCalls.tryLock(file.descriptor, path) { return false }
            try folder.removeFile(path)
            return true
        } catch {
            return error.isOfAbsence
        }
    }

    /// Writes the index, atomically and durably.
    func save() throws(BaseMemoryError) {
        let place = try BaseMemoryError.wrapping { () throws(FileError) in try TemporaryFolder(in: folder.path) }
        try save(in: place.path)
    }

    /// - Parameter place: A temporary folder of the memory's.
    private func save(in place: FilePath) throws(BaseMemoryError) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            let target = folder.path.appending(BaseMemory.indexFile)
            let bytes = index.jsonBytes
            let path = place.appending("index")
            try OpenFile.write(bytes, to: path)
            try folder.rename(path, to: target)
            try folder.sync(folder.path)
            if index.firstFlaw == nil { BaseMemory.decodedIndexes.keep(index, of: bytes) }
        }
    }

    /// Removes the index and the folder of objects once nothing is remembered; the memory's own folder stays.
    func removeIfEmpty() {
        guard index.isEmpty else { return }
        try? folder.removeFile(folder.path.appending(BaseMemory.indexFile))
        try? folder.removeEmptyFolder(at: objectFolder)
    }
}

extension MemoryChange {
    /// Lists the files, then moves them to their places, then removes the files that they replace.
    ///
    /// - Parameters:
    ///   - offer: `nil` if the copy is here already.
    ///   - files: External files; those that have been removed meanwhile are left out.
    ///   - stream: Of a shipment that begins; no acknowledged copy goes for it.
    mutating func put(
        _ proposal: BaseMemory.Proposal, _ offer: BaseMemory.Offer?,
        stream: (path: FilePath, listed: BaseIndex.Stream)? = nil,
        files: [(part: Manifest.Part, offer: BaseMemory.Offer?)] = [], in place: FilePath, budget: Int64
    ) throws(BaseMemoryError) -> Remembering {
        let before = index
        var moves: [Move] = []
        /// Equal files are kept once.
        func object(_ sha256: ContentDigest, _ size: Int64, from offer: BaseMemory.Offer?) -> String? {
            if let known = before.objects.first(where: { $0.sha256 == sha256 && $0.size == size }) { return known.id }
            guard let offer else { return nil }
            let object = BaseIndex.Object(id: UUID().uuidString, sha256: sha256, size: size, inode: offer.inode)
            index.list(object)
            moves.append((offer.path, path(of: object), stream != nil && offer.isInUse))
            return object.id
        }
        let store = proposal.manifest.store
        let words = try Self.write(proposal.encodedManifest, to: place.appending("manifest"))
        guard let copy = object(store.sha256, store.size, from: offer),
            let manifest = object(
                ContentDigest(hashing: proposal.encodedManifest), Int64(proposal.encodedManifest.count), from: words)
        else {
            // The copy that was here has been removed meanwhile.
            index = before
            return .failed(.file(FileError(.link, folder.path, .noSuchFileOrDirectory)))
        }
        if let stream {
            index.list(stream.listed)
            moves.append((stream.path, path(of: stream.listed), false))
        }
        let new = BaseIndex.Entry(
            proposal.key, receiver: proposal.receiver, copy: copy, manifest: manifest,
            files: files.compactMap { object($0.part.sha256, $0.part.size, from: $0.offer) }, state: proposal.state,
            stream: stream?.listed.id, at: Timestamp(Date()))
        index.put(new)
        if let sent = proposal.sent { index.note(sent) }
        let (free, reserve) = try space()
        let fitting = index.evicting(except: new, keepingAcknowledged: stream != nil) { index in
            let files = index.files
            return index.size <= budget && index.fits
                && files.count <= BaseIndex.mostFiles && files.size <= budget / BaseIndex.fileShare
                && free + index.unusedSize >= reserve
        }
        guard let fitting else {
            index = before
            if stream == nil { _ = try makeRoom(for: 0) }
            return .noRoom
        }
        return try go(to: fitting, from: before, moves, in: place, durable: new.isPinned ? new : nil)
    }

    /// - Parameter entry: What its user has added. Of what receivers have acknowledged a power cut may lose the files: that costs bytes.
    private mutating func go(
        to new: BaseIndex, from before: BaseIndex, _ moves: [Move], in place: FilePath, durable entry: BaseIndex.Entry?
    ) throws(BaseMemoryError) -> Remembering {
        index = new
        do throws(BaseMemoryError) {
            try BaseMemoryError.wrapping { () throws(FileError) in try folder.makeFolder(at: objectFolder) }
            try save(in: place)
            for move in moves { try take(move) }
            if let entry { try sync(entry) }
        } catch {
            // A file that is in its place already stays listed until it is removed.
            index = before
            for object in new.objects where before.object(object.id) == nil { index.list(object) }
            for stream in new.streams where before.stream(stream.id) == nil { index.list(stream) }
            removeUnused()
            try? save()
            throw error
        }
        removeUnused()
        return .remembered
    }

    /// Syncs the files of an entry, and the folder that they are in: `save` has synced the one above.
    private func sync(_ entry: BaseIndex.Entry) throws(BaseMemoryError) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            for id in [entry.copy, entry.manifest] + (entry.files ?? []) {
                try folder.file(at: objectFolder.appending(id)).sync()
            }
            try folder.sync(objectFolder)
        }
    }

    /// Where a file comes from, where it goes, and whether it keeps its own name, too.
    private typealias Move = (source: FilePath, target: FilePath, keepsName: Bool)

    private func take(_ move: Move) throws(BaseMemoryError) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            do throws(FileError) {
                try PlatformCalls.hardLink(move.source, as: move.target)
            } catch {
                // Some file systems have no hard links.
                guard !move.keepsName, Errno.ofNoHardLinks.contains(error.errno) else { throw error }
                try PlatformCalls.rename(move.source, to: move.target)
            }
        }
    }

    private static func write(_ bytes: [UInt8], to path: FilePath) throws(BaseMemoryError) -> BaseMemory.Offer {
        try BaseMemoryError.wrapping { () throws(FileError) in
            let file = try OpenFile.creating(path)
            try file.write(bytes)
            return BaseMemory.Offer(path: path, inode: try file.status.inode, isInUse: false)
        }
    }

    /// The free bytes of the disk, and how many of them have to stay free.
    func space() throws(BaseMemoryError) -> (free: Int64, reserve: Int64) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            (try folder.freeSpace, try PlatformCalls.diskSize(around: folder.path) / BaseMemory.freeShare)
        }
    }

    /// Forgets what was used longest ago until `size` bytes are free beside the reserve. If that is impossible, it restores at least
    /// the reserve, and forgets everything that is not pinned if need be: then other files fill the disk.
    ///
    /// - Returns: Whether `size` bytes are free.
    mutating func makeRoom(for size: Int64) throws(BaseMemoryError) -> Bool {
        let (free, reserve) = try space()
        func leaving(_ size: Int64) -> BaseIndex? {
            index.evicting(except: nil) { free + $0.unusedSize - size >= reserve }
        }
        let (enough, before) = (leaving(size), index)
        if let left = enough ?? leaving(0) { index = left } else { _ = index.remove { !$0.isPinned } }
        removeUnused()
        if index != before { try save() }
        return enough != nil
    }
}

extension BaseIndex.Stream {
    /// Whether a file is the one that was put there. Its size says nothing, because it grows.
    func isIn(_ status: FileStatus) -> Bool {
        status.kind == .file && status.owner == PlatformCalls.effectiveUser && status.inode == inode
    }
}

extension BaseMemory {
    /// How long a shipment that broke off can be resumed after its last change.
    package static let unfinishedLife = Duration.seconds(24 * 60 * 60)

    /// By the wall clock: a stream with a time in the future counts as expired, because its age is unknown.
    static func isExpired(_ stream: FileStatus) -> Bool {
        let age = Duration.seconds(Date().timeIntervalSince1970) - stream.modified
        // File systems may round a time up, by 2 s at most (FAT).
        return age < .seconds(-2) || age > unfinishedLife
    }
}
