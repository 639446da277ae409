package import ShipProtocol
import StoreFiles
package import SystemPackage

extension BaseMemory {
    /// Remembers the copy that a receiver has acknowledged, in place of the one that it acknowledged before.
    ///
    /// The file gets a second name in the memory; on a file system without hard links it is moved there. A file on another file system,
    /// or with further names, is copied.
    ///
    /// - Parameters:
    ///   - copy: The file, which is not written to any more.
    ///   - files: The external files to remember, each content once; the first to go stands last. They are copied, and go before any
    ///     copy where there is no room. A file that cannot be read is left out.
    ///   - receiver: A device's id, or the endpoint.
    ///   - state: Given back with it, of at most `BaseIndex.stateLimit` bytes.
    ///   - sent: Noted with it, as `note` does.
    package func remember(
        _ manifest: Manifest, copy: FilePath, files: [(part: Manifest.Part, path: FilePath)] = [], as key: BaseKey,
        receiver: String, state: [UInt8]? = nil, sent: SentStore? = nil
    ) -> Remembering {
        do throws(BaseMemoryError) {
            return try keep(
                Proposal(manifest: manifest, key: key, receiver: receiver, state: state, sent: sent), copy, files)
        } catch {
            return .failed(error)
        }
    }

    private func keep(
        _ proposal: Proposal, _ copy: FilePath, _ files: [(part: Manifest.Part, path: FilePath)]
    ) throws(BaseMemoryError) -> Remembering {
        let (manifest, source) = (proposal.manifest, try status(of: copy))
        if let refusal = proposal.refusal(of: source) { return refusal }
        guard manifest.store.size + Int64(proposal.encodedManifest.count) <= budget else { return .tooLarge }

        try make(durably: proposal.receiver == BaseKey.everyReceiver)
        let place = try BaseMemoryError.wrapping { () throws(FileError) in try TemporaryFolder(in: folder) }
        let here = try status(of: folder)
        let offered: Offer?
        if source.links == 1, source.device == here.device {
            offered = Offer(path: copy, inode: source.inode, isInUse: true)
        } else if try isKnown(manifest.store.sha256) {
            offered = nil
        } else {
            guard let room = try makeRoom(for: source.size) else { return .noRoom }
            let target = place.path.appending("copy")
            try write(copy, source.size, to: target)
            withExtendedLifetime(room) {}
            offered = Offer(path: target, inode: try status(of: target).inode, isInUse: false)
        }
        let offers = offers(files, in: place.path)
        return try whileLocked { (change) throws(BaseMemoryError) in
            try change.put(proposal, offered, files: offers, in: place.path, budget: budget)
        } ?? .failed(.file(FileError(.open, folder, .noSuchFileOrDirectory)))
    }

    /// A copy that is to be remembered, without its files.
    struct Proposal {
        let manifest: Manifest
        let encodedManifest: [UInt8]
        let key: BaseKey
        let receiver: String
        let state: [UInt8]?
        let sent: SentStore?

        init(manifest: Manifest, key: BaseKey, receiver: String, state: [UInt8]?, sent: SentStore? = nil) {
            self.manifest = manifest
            encodedManifest = manifest.jsonBytes
            self.key = key
            self.receiver = receiver
            self.state = state
            self.sent = sent.flatMap { $0.isShortEnough ? $0 : nil }
        }

        /// - Parameter copy: The file of the copy.
        /// - Returns: Why it cannot be remembered; `nil` if it can.
        func refusal(of copy: FileStatus) -> Remembering? {
            guard (state?.count ?? 0) <= BaseIndex.stateLimit, receiver.utf8.count <= BaseIndex.receiverLength,
                key.store.text.utf8.count <= BaseIndex.pathLength
            else { return .tooLong }
            guard copy.kind == .file, copy.owner == PlatformCalls.effectiveUser, copy.size == manifest.store.size
            else { return .otherFile }
            return nil
        }
    }

    /// A file on this file system that the memory can take over.
    struct Offer {
        let path: FilePath
        let inode: UInt64
        /// Whether it is in use under its present name.
        let isInUse: Bool
    }

    /// Copies external files that are not here yet. Nothing is forgotten for them, and nothing fails for them.
    ///
    /// - Returns: The files that can be remembered, with a `nil` offer for a file that is here already; `[]` where the memory cannot be
    ///   read. It ends at the first file for which there is no room, or the free space cannot be read.
    func offers(_ files: [(part: Manifest.Part, path: FilePath)], in place: FilePath) -> [(
        part: Manifest.Part, offer: Offer?
    )] {
        guard !files.isEmpty, let index = try? index() else { return [] }
        // An object that no entry needs may be removed at any moment.
        let known = Set(index.objects.map(\.sha256)).subtracting(index.unused.map(\.sha256))
        var offers: [(part: Manifest.Part, offer: Offer?)] = []
        for (number, file) in files.prefix(BaseIndex.mostFiles).enumerated() {
            if known.contains(file.part.sha256) {
                offers.append((file.part, nil))
                continue
            }
            let target = place.appending("file-\(number)")
            let room: DiskReservation?
            do throws(BaseMemoryError) {
                room = try reserve(file.part.size)
            } catch {
                break
            }
            guard let room else { break }
            do throws(BaseMemoryError) {
                try write(file.path, file.part.size, to: target)
                let inode = try status(of: target).inode
                offers.append((file.part, Offer(path: target, inode: inode, isInUse: false)))
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

    /// Copies a file, and never more of it than its size should be: no more was reserved on the disk.
    ///
    /// - Parameter size: What the file should have, in bytes.
    /// - Throws: `.file` also for a file that is shorter or longer.
    private func write(_ source: FilePath, _ size: Int64, to target: FilePath) throws(BaseMemoryError) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            let input = try OpenFile.readingWithoutFollowing(source)
            guard try input.status.size == size else { throw FileError(.read, source, .invalidArgument) }
            let output = try OpenFile.creating(target)
            try input.copyContent(to: output, upTo: size)
            guard try output.size == size else { throw FileError(.read, source, .invalidArgument) }
        }
    }

    // MARK: Space

    /// The folder in which to make a copy that may be remembered, in a temporary folder of its own (`TemporaryFolder`): then the copy
    /// is written once.
    ///
    /// - Parameters:
    ///   - size: About the bytes of the copy.
    ///   - makesRoom: Whether copies are forgotten for it. The shipment may yet build on any of them, so that this is for where there is no
    ///     other place.
    /// - Returns: `nil` if there is no space for it, or the folder cannot be written to.
    package func workingFolder(for size: Int64, makingRoom makesRoom: Bool = false) -> FilePath? {
        guard size <= budget, (try? make()) != nil,
            (try? makesRoom ? makeRoom(for: size) : reserve(size)) != nil, PlatformCalls.canWrite(folder)
        else { return nil }
        return folder
    }

    /// How many external files may be remembered with one copy, and how many bytes they may have together.
    package var roomForFiles: (count: Int, size: Int64) { (BaseIndex.mostFiles, budget / BaseIndex.fileShare) }

    /// Reserves space, and forgets what was used longest ago until there is enough.
    ///
    /// - Returns: `nil` if there is too little in any case.
    func makeRoom(for size: Int64) throws(BaseMemoryError) -> DiskReservation? {
        if let reservation = try reserve(size) { return reservation }
        let isMade = try whileLocked { (change) throws(BaseMemoryError) in try change.makeRoom(for: size) }
        return isMade == true ? try reserve(size) : nil
    }

    /// - Returns: `nil` if there is too little space.
    func reserve(_ size: Int64) throws(BaseMemoryError) -> DiskReservation? {
        let leaving = try BaseMemoryError.wrapping { () throws(FileError) in
            try PlatformCalls.diskSize(around: folder) / Self.freeShare
        }
        do throws(DiskReservation.Refusal) {
            return try SpaceLedger.ofProcess.reserve(size, leaving: leaving, around: folder)
        } catch {
            switch error {
            case .tooLittle: return nil
            case .file(let error): throw .file(error)
            }
        }
    }
}
