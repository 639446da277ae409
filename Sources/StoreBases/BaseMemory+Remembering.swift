import FoundationEssentials
package import ShipProtocol
import StoreFiles
package import SystemPackage

/// What became of a copy that was to be remembered.
package enum Remembering: Hashable, Sendable {
    case remembered
    case declined(Cause)
    case failed(BaseMemoryError)

    package enum Cause: Hashable, Sendable {
        /// It is larger than everything together may be.
        case tooLarge
        /// The disk is too full, whatever else would be forgotten.
        case noRoom
        /// What comes with it is longer than its limit.
        case tooLong
        /// The file is not the manifest's.
        case otherFile
    }
}

extension BaseMemory {
    /// Remembers the copy that a receiver has acknowledged, in place of the one that it acknowledged before.
    ///
    /// The file gets a second name here, and may lose its own where the file system knows no second ones. From another file system,
    /// or if it has further names already, it is copied.
    ///
    /// - Parameters:
    ///   - copy: The file, which nobody writes to any more.
    ///   - receiver: Who it was: a device's id, or the endpoint.
    ///   - state: Given back with it, of at most `stateLimit` bytes.
    package func remember(
        _ manifest: Manifest, copy: FilePath, as key: BaseKey, receiver: String, state: [UInt8]? = nil
    ) -> Remembering {
        do throws(BaseMemoryError) {
            return try keep(manifest, copy, key, receiver, state)
        } catch {
            return .failed(error)
        }
    }

    private func keep(
        _ manifest: Manifest, _ copy: FilePath, _ key: BaseKey, _ receiver: String, _ state: [UInt8]?
    ) throws(BaseMemoryError) -> Remembering {
        guard (state?.count ?? 0) <= Self.stateLimit, receiver.utf8.count <= BaseIndex.receiverLength,
            key.store.string.utf8.count <= BaseIndex.pathLength
        else { return .declined(.tooLong) }
        let source = try status(of: copy)
        guard source.kind == .file, source.owner == PlatformCalls.effectiveUser, source.size == manifest.store.size
        else { return .declined(.otherFile) }
        let words = MessageCoding.encode(manifest)
        guard manifest.store.size + Int64(words.count) <= budget else { return .declined(.tooLarge) }

        try make()
        let place = try BaseMemoryError.wrapping { () throws(FileError) in try TemporaryFolder(in: folder) }
        let offered: Offer?
        switch try offer(copy, source, of: manifest.store.sha256, in: place.path) {
        case .success(let offer): offered = offer
        case .failure(let obstacle): return .declined(obstacle.cause)
        }
        let entry = Entry(manifest, words, key, receiver, state)
        return try whileLocked { (change) throws(BaseMemoryError) in
            try change.put(entry, offered, in: place.path, budget: budget)
        } ?? .failed(.file(FileError(.open, folder, .noSuchFileOrDirectory)))
    }

    /// What is to be written down of a copy, but for its files.
    struct Entry {
        let manifest: Manifest
        /// The manifest, as bytes.
        let words: [UInt8]
        let key: BaseKey
        let receiver: String
        let state: [UInt8]?

        init(_ manifest: Manifest, _ words: [UInt8], _ key: BaseKey, _ receiver: String, _ state: [UInt8]?) {
            self.manifest = manifest
            self.words = words
            self.key = key
            self.receiver = receiver
            self.state = state
        }
    }

    /// A file of this file system that can be taken over.
    struct Offer {
        let path: FilePath
        let inode: UInt64
    }

    private struct Obstacle: Error { let cause: Remembering.Cause }

    /// - Returns: `nil` if the same content is here already.
    private func offer(
        _ copy: FilePath, _ source: FileStatus, of digest: ContentDigest, in place: FilePath
    ) throws(BaseMemoryError) -> Result<Offer?, Obstacle> {
        let here = try status(of: folder)
        if source.links == 1, source.device == here.device {
            return .success(Offer(path: copy, inode: source.inode))
        }
        let isKnown = try whileLocked { (change) throws(BaseMemoryError) in
            change.index.objects.contains { $0.sha256 == digest && change.isThere($0) }
        }
        if isKnown == true { return .success(nil) }
        guard let room = try makeRoom(for: source.size) else { return .failure(Obstacle(cause: .noRoom)) }
        let target = place.appending("copy")
        try write(copy, to: target)
        withExtendedLifetime(room) {}
        return .success(Offer(path: target, inode: try status(of: target).inode))
    }

    private func status(of path: FilePath) throws(BaseMemoryError) -> FileStatus {
        try BaseMemoryError.wrapping { () throws(FileError) in try PlatformCalls.status(of: path) }
    }

    /// Bytes copied at a time.
    private static let pieceSize = 1024 * 1024

    private func write(_ source: FilePath, to target: FilePath) throws(BaseMemoryError) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            let input = try OpenFile.readingWithoutFollowing(source)
            let output = try OpenFile.creating(target)
            var offset: Int64 = 0
            while true {
                if Task.isCancelled { throw FileError(.write, target, .canceled) }
                let piece = try input.read(Self.pieceSize, at: offset)
                guard !piece.isEmpty else { return }
                try output.write(piece)
                offset += Int64(piece.count)
            }
        }
    }

    // MARK: Room

    /// The folder in which a copy is to be made that may be remembered, in a temporary folder of its own (`TemporaryFolder`): then it
    /// is not written twice.
    ///
    /// - Parameter size: Of the copy, in bytes, about.
    /// - Returns: `nil` if it could not be remembered here: it is to be made elsewhere.
    package func workingFolder(for size: Int64) -> FilePath? {
        guard size <= budget, (try? make()) != nil, let room = try? makeRoom(for: size) else { return nil }
        withExtendedLifetime(room) {}
        return folder
    }

    /// Forgets what was used longest ago, until there is room.
    ///
    /// - Returns: The promise of it; `nil` if there is too little in any case.
    private func makeRoom(for size: Int64) throws(BaseMemoryError) -> SpaceLedger.Promise? {
        if let promise = try promise(size) { return promise }
        let isMade = try whileLocked { (change) throws(BaseMemoryError) in
            let (free, reserve) = try change.space()
            let left = change.index.evicting(except: nil) { free + $0.unusedSize - size >= reserve }
            guard let left else { return false }
            change.index = left
            change.removeUnused()
            try change.save()
            return true
        }
        return isMade == true ? try promise(size) : nil
    }

    private func promise(_ size: Int64) throws(BaseMemoryError) -> SpaceLedger.Promise? {
        let reserve = try BaseMemoryError.wrapping { () throws(FileError) in
            try PlatformCalls.diskSize(around: folder) / Self.freeShare
        }
        do throws(SpaceLedger.Refusal) {
            return try SpaceLedger.ofProcess.promise(size, leaving: reserve, around: folder)
        } catch {
            switch error {
            case .tooLittle: return nil
            case .file(let error): throw .file(error)
            }
        }
    }
}

extension MemoryChange {
    /// Bytes that are free, and how many of them have to stay free.
    func space() throws(BaseMemoryError) -> (free: Int64, reserve: Int64) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            (try folder.freeSpace, try PlatformCalls.diskSize(around: folder.path) / BaseMemory.freeShare)
        }
    }

    /// Lists the files, then puts them in their place, then removes what they stand for no more.
    ///
    /// - Parameter offer: `nil` if the copy is here already.
    mutating func put(
        _ entry: BaseMemory.Entry, _ offer: BaseMemory.Offer?, in place: FilePath, budget: Int64
    ) throws(BaseMemoryError) -> Remembering {
        let before = index
        var moves: [(source: FilePath, object: BaseIndex.Object)] = []
        /// Equal files are kept once.
        func object(_ sha256: ContentDigest, _ size: Int64, from offer: BaseMemory.Offer?) -> String? {
            if let known = before.objects.first(where: { $0.sha256 == sha256 && $0.size == size }) { return known.id }
            guard let offer else { return nil }
            let object = BaseIndex.Object(id: UUID().uuidString, sha256: sha256, size: size, inode: offer.inode)
            index.list(object)
            moves.append((offer.path, object))
            return object.id
        }
        let store = entry.manifest.store
        let words = try Self.write(entry.words, to: place.appending("manifest"))
        guard let copy = object(store.sha256, store.size, from: offer),
            let manifest = object(ContentDigest(hashing: entry.words), Int64(entry.words.count), from: words)
        else {
            // The copy that was here has gone meanwhile.
            index = before
            return .failed(.file(FileError(.link, folder.path, .noSuchFileOrDirectory)))
        }
        let new = BaseIndex.Entry(
            entry.key, receiver: entry.receiver, copy: copy, manifest: manifest, state: entry.state,
            at: Timestamp(Date()))
        index.put(new)
        let (free, reserve) = try space()
        let fitting = index.evicting(except: new) { index in
            index.size <= budget && index.entries.count <= BaseIndex.mostEntries
                && free + index.unusedSize >= reserve
        }
        guard let fitting else {
            index = before
            return .declined(.noRoom)
        }
        return try go(to: fitting, from: before, moves)
    }

    private mutating func go(
        to new: BaseIndex, from before: BaseIndex, _ moves: [(source: FilePath, object: BaseIndex.Object)]
    ) throws(BaseMemoryError) -> Remembering {
        index = new
        do throws(BaseMemoryError) {
            try BaseMemoryError.wrapping { () throws(FileError) in try folder.makeFolder(at: objectFolder) }
            try save()
            for move in moves { try take(move.source, as: path(of: move.object)) }
        } catch {
            // What has got its place already is listed, and goes.
            index = before
            for move in moves { index.list(move.object) }
            removeUnused()
            try? save()
            throw error
        }
        removeUnused()
        return .remembered
    }

    private func take(_ source: FilePath, as target: FilePath) throws(BaseMemoryError) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            do throws(FileError) {
                try PlatformCalls.hardLink(source, as: target)
            } catch {
                // There are file systems without second names.
                guard [.notPermitted, .notSupported, .noFunction, .tooManyLinks].contains(error.errno) else {
                    throw error
                }
                try PlatformCalls.rename(source, to: target)
            }
        }
    }

    private static func write(_ bytes: [UInt8], to path: FilePath) throws(BaseMemoryError) -> BaseMemory.Offer {
        try BaseMemoryError.wrapping { () throws(FileError) in
            let file = try OpenFile.creating(path)
            try file.write(bytes)
            return BaseMemory.Offer(path: path, inode: try file.status.inode)
        }
    }
}
