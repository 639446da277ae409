import EssentialFoundation
package import ShipProtocol
package import StoreFiles
package import StoreInbox
package import SystemPackage

/// A shipment on its way in: a private folder in the inbox's staging, removed with its owner unless it is installed, or has broken
/// off and waits for the rest. It is locked as long as it has an owner.
///
///     StagedGeneration -> seal -> SealedGeneration -> Installer.install -> Generation
package final class StagedGeneration {
    package let manifest: Manifest
    let sender: Sender
    private let origin: Origin?
    /// The manifest as its producer has signed it.
    private let signed: SignedManifest?
    /// The folder.
    package let path: FilePath
    let inbox: InboxFolder
    private let spares: SpareFiles
    /// The folder itself, held open.
    let folder: OpenFolder
    /// Bytes of the parts that were not here already.
    package let bytesToCome: Int64
    /// Indexes of the parts that are a generation's own files under a second name: synced when that was installed.
    package private(set) var linkedParts: Set<Int>
    /// The room that is reserved ahead of what is written: who only announces a large shipment keeps no more from others.
    private static let roomAhead: Int64 = 64 * 1024 * 1024
    let space: DiskReservation
    /// Bytes that are to come beyond those for which there is room in `space`.
    private var unreserved: Int64 = 0
    /// Bytes of each part that are on the disk.
    private var written: [Int: Int64] = [:]
    /// The part that is being written, and its file.
    var openPart: Int?
    var openFile: OpenFile?
    private var sealedParts: Set<Int> = []
    private var isInstalled = false
    var lock: FolderLock?
    /// Parts that an earlier session has brought as a whole.
    package let wholeParts: Set<Int>
    /// The stream of another part, as far as an earlier session received it.
    package internal(set) var earlierStream: PartStream?
    /// Whether what has come is kept where the link breaks.
    let mayWait: Bool
    var keeping: StreamJournal?
    /// The part of which data are to come.
    var receiving: Int?
    /// Whether it is written down whose this is.
    var hasRecord = false
    var waits = false
    /// Bytes of parts whose streams were too short for a file.
    var countAtOnce: Int64 = 0

    /// - Parameters:
    ///   - waiting: A shipment that broke off, with which this goes on; what of it is of no use is gone.
    ///   - present: Indexes of parts, and the files of an older generation that hold them.
    ///   - space: The room that there is for it.
    ///   - mayWait: Whether what has come is kept where the link breaks.
    init(
        _ manifest: Manifest, from sender: Sender, _ origin: Origin?, _ signed: SignedManifest?, in staging: FilePath,
        goingOnWith waiting: WaitingShipment? = nil, of inbox: InboxFolder, _ spares: SpareFiles,
        present: [Int: FilePath], _ space: DiskReservation, mayWait: Bool
    ) throws(InboxError) {
        self.manifest = manifest
        self.sender = sender
        (self.origin, self.signed) = (origin, signed)
        (self.inbox, self.spares) = (inbox, spares)
        self.space = space
        self.mayWait = mayWait
        linkedParts = Set(present.keys)
        let whole = waiting?.wholeParts ?? []
        wholeParts = whole
        earlierStream = waiting?.stream
        bytesToCome = manifest.parts.enumerated().reduce(0) {
            $0 + (present[$1.offset] == nil && !whole.contains($1.offset) ? $1.element.size : 0)
        }
        guard let waiting else {
            path = staging.appending(UUID().uuidString)
            folder = try Self.makeFolder(at: path, for: manifest, in: inbox.files, present)
            // Until now it is told from what waits by having no record.
            lock = try InboxError.wrapping { [path] () throws(FileError) in
                try FolderLock.take(.exclusive, on: path, in: inbox.files)
            }
            release()
            return
        }
        path = waiting.path
        folder = try InboxError.wrapping { () throws(FileError) in try inbox.files.folder(at: waiting.path) }
        lock = waiting.takeLock()
        try InboxError.wrapping { () throws(FileError) in
            try Self.fill(folder, for: manifest, in: inbox.files, present)
            try writeRecord()
            try syncRecord()
        }
        release()
    }

    /// Makes the folder, and what is in it from the start.
    private static func makeFolder(
        at path: FilePath, for manifest: Manifest, in inbox: borrowing OpenFolder, _ present: [Int: FilePath]
    ) throws(InboxError) -> OpenFolder {
        do throws(FileError) {
            // Its name counts once it is a generation's, or there is a record in it: either is synced then.
            try inbox.makeFolder(at: path, durably: false)
            let folder = try inbox.folder(at: path)
            try fill(folder, for: manifest, in: inbox, present)
            return folder
        } catch {
            try? inbox.removeTree(at: path)
            throw .file(error)
        }
    }

    /// Links the parts that are here already, and makes an empty file for each part without bytes.
    private static func fill(
        _ folder: borrowing OpenFolder, for manifest: Manifest, in inbox: borrowing OpenFolder,
        _ present: [Int: FilePath]
    ) throws(FileError) {
        let path = folder.path
        for subfolder in Set(manifest.externalFiles.map(\.name.folder)) {
            try folder.makeFolder(
                at: path.appending(InboxLayout.supportFolder(manifest.name)).appending(subfolder.rawValue),
                durably: false)
        }
        for (index, part) in manifest.parts.enumerated() {
            let place = path.appending(Generation.relativePath(ofPart: index, of: manifest).components)
            guard !Task.isCancelled else { throw FileError(.open, place, .canceled) }
            if let source = present[index] {
                let isLinked = try FileError.isDone(unless: Errno.ofNoHardLinks) { () throws(FileError) in
                    try folder.hardLink(source, in: inbox, as: place)
                }
                if isLinked { continue }
                let copy = try folder.makeFile(at: place)
                try inbox.file(at: source).copyContent(to: copy)
                try copy.changeMode(to: .ownerRead)
                try copy.sync()
            } else if part.size == 0 {
                _ = try folder.makeFile(at: place)
            }
        }
    }

    deinit {
        guard !isInstalled, !waits else { return }
        try? inbox.files.removeTree(at: path)
        // A first shipment leaves nothing behind. If another process holds the store's lock, that one removes the folder, or
        // brings another shipment.
        if let storeLock = try? StoreLock(of: manifest.name, in: inbox, timeout: .zero) {
            storeLock.removeFolderIfUnused()
        }
    }

    /// The store, complete or not.
    package var storePath: FilePath { path(ofPart: 0) }

    /// The same, for what opens it by its path in this process: a name that leads to it even if others move what is above.
    package var storePathByDescriptor: FilePath {
        folder.pathByDescriptor.appending(Generation.relativePath(ofPart: 0, of: manifest).components)
    }

    func path(ofPart index: Int) -> FilePath {
        path.appending(Generation.relativePath(ofPart: index, of: manifest).components)
    }

    /// Appends decoded bytes to a part. Parts come one after the other.
    package func append(_ bytes: [UInt8], toPart index: Int) throws(InboxError) {
        try InboxError.wrapping { () throws(FileError) in
            if openPart != index {
                openFile = try folder.makeFile(at: path(ofPart: index))
                openPart = index
            }
            try openFile?.write(bytes)
        }
        try use(Int64(bytes.count), ofPart: index)
    }

    /// Takes all of a part from a file, which stays as it is.
    ///
    /// - Throws: `.mismatch` for a file of another size than the part.
    package func take(part index: Int, from source: borrowing OpenFile) throws(InboxError) {
        let size = manifest.parts[index].size
        let found: Int64
        do throws(FileError) { found = try source.size } catch { throw .file(error) }
        guard found == size else { throw .mismatch(source.path) }
        let path = path(ofPart: index)
        do throws(FileError) { try folder.makeFile(at: path, cloning: source) } catch { throw .file(error) }
        try use(size, ofPart: index)
    }

    func closePart() {
        openPart = nil
        openFile = nil
    }

    /// - Throws: `.noSpace`: others have taken the room since this shipment was announced.
    private func use(_ bytes: Int64, ofPart index: Int) throws(InboxError) {
        written[index, default: 0] += bytes
        space.use(bytes)
        unreserved -= space.settle(upTo: unreserved)
        guard unreserved > 0, space.left < Self.roomAhead / 2 else { return }
        let more = min(unreserved, Self.roomAhead)
        do throws(DiskReservation.Refusal) {
            try space.extend(by: more)
        } catch {
            throw InboxError(error)
        }
        unreserved -= more
    }

    /// Leaves to others what is reserved too far ahead.
    private func release() {
        let over = space.left - Self.roomAhead
        guard over > 0 else { return }
        space.release(over)
        unreserved += over
    }

    /// The path at which the caller makes the store, and leaves nothing else behind. Nothing may be appended to part 0 then.
    ///
    /// Whatever has come of the store is discarded.
    package func storePathForMaking() throws(InboxError) -> FilePath {
        try discard(part: 0)
        return storePathByDescriptor
    }

    /// Puts the file of a store that nothing needs any more there, to be written over; returns whether there is one.
    package var moveSpareToStorePath: @Sendable () -> Bool {
        { [spares, name = manifest.name, storePath] in spares.move(of: name, to: storePath) }
    }

    /// The room for what is written beside the store while it is made, and goes before it is installed.
    package var workingRoom: GrowingReservation { GrowingReservation(space) { InboxError($0) } }

    /// - Parameter size: Bytes that the store has by now, under the caller's hands.
    /// - Throws: `.noSpace`.
    package func storeGrew(to size: Int64) throws(InboxError) { try use(size - (written[0] ?? 0), ofPart: 0) }

    /// Drops what has come of a part; it comes again.
    package func discard(part index: Int) throws(InboxError) {
        if openPart == index { closePart() }
        sealedParts.remove(index)
        let path = path(ofPart: index)
        try InboxError.wrapping { () throws(FileError) in
            if try folder.holds(path) { try folder.removeFile(path) }
        }
        // Room was reserved for what was to come, and this was not.
        if linkedParts.remove(index) != nil { unreserved += manifest.parts[index].size }
        space.takeBack(written.removeValue(forKey: index) ?? 0)
        release()
    }

    /// A part is complete: syncs it, and compares it, as re-read, with the manifest. `seal()` need not do so again.
    ///
    /// - Throws: `.mismatch`, after which it may come again; `.file`.
    package func seal(part index: Int) throws(InboxError) {
        guard !sealedParts.contains(index) else { return }
        if openPart == index { closePart() }
        try sealPart(index, manifest.parts[index])
        sealedParts.insert(index)
    }

    /// Nothing more comes: syncs every file, compares each, as re-read, with the manifest, writes the manifest beside
    /// them, where it is from, and what was signed, and syncs the folders.
    ///
    /// - Throws: `.mismatch`, `.file`. A sync that failed is never tried again: the staging is to be dropped.
    package func seal() throws(InboxError) -> SealedGeneration {
        closePart()
        for (index, part) in manifest.parts.enumerated() {
            if !sealedParts.contains(index) { try sealPart(index, part) }
        }
        try InboxError.wrapping { () throws(FileError) in
            try removeRecord()
            try write(manifest.jsonBytes, as: InboxLayout.manifestFile)
            if let origin { try write(origin.jsonBytes, as: InboxLayout.originFile) }
            if let signed = try? signed?.encoded() { try write(signed, as: InboxLayout.signedFile) }
            for subfolder in Set(manifest.externalFiles.map(\.name.folder)) {
                try folder.sync(path.appending(InboxLayout.supportFolder(manifest.name)).appending(subfolder.rawValue))
            }
            if !manifest.externalFiles.isEmpty {
                try folder.sync(path.appending(InboxLayout.supportFolder(manifest.name)))
            }
            try folder.sync(path)
        }
        return SealedGeneration(self)
    }

    private func write(_ bytes: [UInt8], as name: String) throws(FileError) {
        let path = path.appending(name)
        let file = try folder.makeFile(at: path)
        try file.write(bytes)
        try file.changeMode(to: .ownerRead)
        try file.sync()
    }

    private func sealPart(_ index: Int, _ part: Manifest.Part) throws(InboxError) {
        let path = path(ofPart: index)
        let isWhole = try InboxError.wrapping { () throws(FileError) in
            let file = try folder.file(at: path)
            if !linkedParts.contains(index) {
                // A process that knows another name of the file could change it later.
                guard try file.status.links == 1 else { return false }
                try file.changeMode(to: .ownerRead)
                try file.sync()
            }
            // So that the bytes to compare come from the medium, not from memory.
            PlatformCalls.dropCache(of: file.descriptor)
            guard try file.size == part.size else { return false }
            return try ContentDigest(ofFile: file) == part.sha256
        }
        guard isWhole else { throw .mismatch(path) }
    }

    /// See `SealedGeneration.move`.
    func move(to target: FilePath) throws(FileError) {
        // On a generation the lock would mean that a reader holds it.
        lock = nil
        try inbox.files.rename(path, to: target)
        isInstalled = true
        guard try inbox.files.status(of: target).identity == folder.status.identity else {
            throw FileError(.rename, path, .noSuchFileOrDirectory)
        }
    }
}
