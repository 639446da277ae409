package import ShipProtocol
import StoreFiles
package import SystemPackage

extension BaseMemory {
    /// Remembers the copy that a receiver has acknowledged, in place of the one that it acknowledged before.
    ///
    /// The file gets a second name here, and may lose its own where the file system knows no second ones. From another file system,
    /// or if it has further names already, it is copied.
    ///
    /// - Parameters:
    ///   - copy: The file, which nobody writes to any more.
    ///   - files: Of the external files those that are to be remembered, each content once; the first to go stands last. They are
    ///     copied, and go before any copy where there is no room; what of them cannot be had is left out.
    ///   - receiver: Who it was: a device's id, or the endpoint.
    ///   - state: Given back with it, of at most `stateLimit` bytes.
    package func remember(
        _ manifest: Manifest, copy: FilePath, files: [(part: Manifest.Part, path: FilePath)] = [], as key: BaseKey,
        receiver: String, state: [UInt8]? = nil
    ) -> Remembering {
        do throws(BaseMemoryError) {
            return try keep(manifest, copy, files, key, receiver, state)
        } catch {
            return .failed(error)
        }
    }

    private func keep(
        _ manifest: Manifest, _ copy: FilePath, _ files: [(part: Manifest.Part, path: FilePath)], _ key: BaseKey,
        _ receiver: String, _ state: [UInt8]?
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
        let offers = try offers(files, in: place.path)
        return try whileLocked { (change) throws(BaseMemoryError) in
            try change.put(entry, offered, files: offers, in: place.path, budget: budget)
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
        /// Whether somebody goes on to use it under its name.
        let isInUse: Bool
    }

    private struct Obstacle: Error { let cause: Remembering.Cause }

    /// - Returns: `nil` if the same content is here already.
    private func offer(
        _ copy: FilePath, _ source: FileStatus, of digest: ContentDigest, in place: FilePath
    ) throws(BaseMemoryError) -> Result<Offer?, Obstacle> {
        let here = try status(of: folder)
        if source.links == 1, source.device == here.device {
            return .success(Offer(path: copy, inode: source.inode, isInUse: true))
        }
        if try isKnown(digest) { return .success(nil) }
        guard let room = try makeRoom(for: source.size) else { return .failure(Obstacle(cause: .noRoom)) }
        let target = place.appending("copy")
        try write(copy, to: target)
        withExtendedLifetime(room) {}
        return .success(Offer(path: target, inode: try status(of: target).inode, isInUse: false))
    }

    /// An external file that is here already, or whose copy can be taken over.
    struct FileOffer {
        let part: Manifest.Part
        let offer: Offer?
    }

    /// Copies those that are not here. Nothing is forgotten for them.
    private func offers(
        _ files: [(part: Manifest.Part, path: FilePath)], in place: FilePath
    ) throws(BaseMemoryError) -> [FileOffer] {
        guard !files.isEmpty else { return [] }
        // What no entry needs may be gone already.
        let index = try index()
        let known = Set(index.objects.map(\.sha256)).subtracting(index.unused.map(\.sha256))
        var offers: [FileOffer] = []
        for (number, file) in files.prefix(BaseIndex.mostFiles).enumerated() {
            if known.contains(file.part.sha256) {
                offers.append(FileOffer(part: file.part, offer: nil))
                continue
            }
            guard let room = try promise(file.part.size) else { break }
            let target = place.appending("file-\(number)")
            do throws(BaseMemoryError) {
                try write(file.path, to: target)
                let copied = try status(of: target)
                guard copied.size == file.part.size else { continue }
                offers.append(
                    FileOffer(part: file.part, offer: Offer(path: target, inode: copied.inode, isInUse: false)))
            } catch {
                // The copy itself may be remembered all the same.
                if error == .stopped { return offers }
            }
            withExtendedLifetime(room) {}
        }
        return offers
    }

    /// Whether a copy is here already.
    func isKnown(_ digest: ContentDigest) throws(BaseMemoryError) -> Bool {
        try whileLocked { (change) throws(BaseMemoryError) in
            change.index.objects.contains { $0.sha256 == digest && change.isThere($0) }
        } ?? false
    }

    func status(of path: FilePath) throws(BaseMemoryError) -> FileStatus {
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
}
