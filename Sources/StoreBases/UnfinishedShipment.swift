import EssentialFoundation
package import ShipProtocol
package import StoreFiles
import Synchronization
package import SystemPackage

/// A shipment that is being sent, as the memory has it: its copy, and of the part that is open what has gone. Where the link breaks, or this
/// process is killed, the next one goes on with it.
///
/// Nothing here fails a shipment: what cannot be recorded ends the recording, and what there is of it stays of use. For as long as the
/// value lives, nobody else goes on with the shipment, and its stream is not removed.
package final class UnfinishedShipment: Sendable {
    /// Bytes that are asked for at a time.
    private static let step: Int64 = 1024 * 1024

    private let memory: BaseMemory
    let id: String
    /// Locked.
    private let file: OpenFile
    private let state: Mutex<State>

    private struct State: Sendable {
        /// Of the part that is open.
        var stream: PartStream?
        /// Most bytes that the file may have.
        let room: Int64
        /// Bytes that are there, or may be written without another question.
        var granted: Int64
        var used: Int64
        let promise: SpaceLedger.Promise?
        /// Once something could not be recorded, what follows it cannot be either, until another part is opened.
        var isAtEnd = false

        mutating func mayGrow(by bytes: Int64) -> Bool {
            guard used + bytes <= room, let promise else { return false }
            if used + bytes > granted {
                let more = max(UnfinishedShipment.step, used + bytes - granted)
                do {
                    try promise.extend(by: more)
                } catch {
                    return false
                }
                granted += more
            }
            used += bytes
            promise.use(bytes)
            return true
        }
    }

    fileprivate init(_ memory: BaseMemory, _ id: String, _ file: consuming OpenFile, used: Int64, room: Int64) {
        self.memory = memory
        self.id = id
        self.file = file
        let promise = try? memory.promise(0)
        state = Mutex(State(room: room, granted: used, used: used, promise: promise))
    }

    /// What has gone of the part that was open, to be gone on with.
    ///
    /// - Returns: `nil` if there is nothing that can be read.
    package func recorded() -> PartStream? {
        state.withLock { state in
            if state.stream == nil, let file = duplicate() { state.stream = try? PartStream(going: file) }
            return state.stream
        }
    }

    /// A part is opened, at its beginning: what was recorded of another one, or of this one in another encoding, goes.
    package func begin(_ header: PartStream.Header) {
        state.withLock { state in
            state.stream = nil
            state.promise?.takeBack(state.used)
            state.isAtEnd = true
            guard (try? file.descriptor.resize(to: 0)) != nil else { return }
            state.used = 0
            guard state.mayGrow(by: 128), let file = duplicate() else { return }
            state.stream = try? PartStream(header, writing: file)
            state.isAtEnd = state.stream == nil
        }
    }

    /// The data of one whole DATA go, or have gone.
    ///
    /// - Parameter note: What its encoder needs to go on after it.
    /// - Returns: Whether it is recorded.
    @discardableResult
    package func append(_ data: [UInt8], note: UInt64) -> Bool {
        state.withLock { state in
            guard !state.isAtEnd, let stream = state.stream else { return false }
            guard state.mayGrow(by: Int64(data.count) + 12),
                (try? stream.append(data, of: data.count, note: note)) != nil
            else {
                state.isAtEnd = true
                return false
            }
            return true
        }
    }

    /// The shipment has come to its end, whichever, and is not to be gone on with: what is recorded goes, and the copy unless it has been
    /// acknowledged (`BaseMemory.remember`, before this).
    package func finish() {
        _ = try? memory.whileLocked { (change) throws(BaseMemoryError) in
            let before = change.index
            _ = change.index.remove { $0.stream == id }
            // It is ours to remove: this value has it locked, through another description of the file.
            if let stream = change.index.stream(id), change.removeLocked(stream) { change.index.drop(stream) }
            change.removeUnused()
            if change.index != before { try change.save() }
            change.removeIfEmpty()
        }
    }

    private func duplicate() -> OpenFile? { try? OpenFile.duplicating(file.descriptor, as: file.path) }
}

extension BaseMemory {
    /// A stream's file that is to get its place.
    struct NewStream {
        let path: FilePath
        let listed: BaseIndex.Stream
    }

    /// What became of a shipment that was to be remembered while it is sent.
    package enum Beginning: Sendable {
        case begun(UnfinishedShipment)
        case declined(Remembering.Cause)
        case failed(BaseMemoryError)
    }

    /// Least room for a stream that is worth it, in bytes.
    static let leastStreamRoom: Int64 = 128 * 1024

    /// A shipment is being sent: its copy is kept for as long as it is not finished, in place of the one that was not finished before for
    /// the same receiver. Nothing that was acknowledged goes for it.
    ///
    /// - Parameters:
    ///   - copy: The file, which keeps its name and which nobody writes to any more. One that is not here already has to be on this
    ///     file system, and is not copied.
    ///   - receiver: A device's id, or the endpoint.
    ///   - state: Given back with it, of at most `stateLimit` bytes.
    package func begin(
        _ manifest: Manifest, copy: FilePath, as key: BaseKey, receiver: String, state: [UInt8]? = nil
    ) -> Beginning {
        do throws(BaseMemoryError) {
            return try beginning(manifest, copy, key, receiver, state)
        } catch {
            return .failed(error)
        }
    }

    private func beginning(
        _ manifest: Manifest, _ copy: FilePath, _ key: BaseKey, _ receiver: String, _ state: [UInt8]?
    ) throws(BaseMemoryError) -> Beginning {
        guard (state?.count ?? 0) <= Self.stateLimit, receiver.utf8.count <= BaseIndex.receiverLength,
            key.store.string.utf8.count <= BaseIndex.pathLength
        else { return .declined(.tooLong) }
        let source = try status(of: copy)
        guard source.kind == .file, source.owner == PlatformCalls.effectiveUser, source.size == manifest.store.size
        else { return .declined(.otherFile) }
        let words = MessageCoding.encode(manifest)
        let room = streamRoom(for: manifest, Int64(words.count))
        guard room >= Self.leastStreamRoom else { return .declined(.tooLarge) }

        try make()
        var offer: Offer?
        if source.links == 1, source.device == (try status(of: folder)).device {
            offer = Offer(path: copy, inode: source.inode, isInUse: true)
        } else if try !isKnown(manifest.store.sha256) {
            return .declined(.noRoom)
        }
        let place = try BaseMemoryError.wrapping { () throws(FileError) in try TemporaryFolder(in: folder) }
        let path = place.path.appending("stream")
        let file = try BaseMemoryError.wrapping { () throws(FileError) in
            let file = try OpenFile.creating(path)
            // Nobody knows it yet.
            guard try PlatformCalls.tryLock(file.descriptor, path) else { throw FileError(.lock, path, .wouldBlock) }
            return file
        }
        let inode = try BaseMemoryError.wrapping { () throws(FileError) in try file.status.inode }
        let stream = NewStream(
            path: path, listed: BaseIndex.Stream(id: UUID().uuidString, inode: inode, room: room))
        let entry = Entry(manifest, words, key, receiver, state)
        let outcome = try whileLocked { (change) throws(BaseMemoryError) in
            try change.put(entry, offer, stream: stream, in: place.path, budget: budget)
        }
        switch outcome {
        case .remembered: return .begun(UnfinishedShipment(self, stream.listed.id, file, used: 0, room: room))
        case .declined(let cause): return .declined(cause)
        case .failed(let error): return .failed(error)
        case nil: return .failed(.file(FileError(.open, folder, .noSuchFileOrDirectory)))
        }
    }

    /// Bytes that a stream may come to: no less than the receiver may have of it. Where there is not so much room, a shipment that
    /// breaks off beyond it begins anew.
    private func streamRoom(for manifest: Manifest, _ words: Int64) -> Int64 {
        min(manifest.totalSize + manifest.totalSize / 64 + 1024 * 1024, budget - manifest.store.size - words)
    }

    /// The shipments of a store that broke off, the newest first; those of them that somebody is sending now, too.
    package func unfinished(of key: BaseKey) -> [RememberedCopy] {
        copies(of: key) { entry in
            guard let id = entry.stream,
                let status = try? PlatformCalls.status(of: folder.appending(Self.objectFolder).appending(id))
            else { return false }
            return !Self.isExpired(status)
        }
    }

    /// Goes on with a shipment that broke off: its copy is `RememberedCopy.open`.
    ///
    /// - Returns: `nil` if somebody else is at it, or there is nothing of it any more.
    package func goOn(with copy: RememberedCopy) -> UnfinishedShipment? {
        guard let id = copy.record.entry.stream else { return nil }
        let found = try? whileLocked { (change) throws(BaseMemoryError) -> UnfinishedShipment? in
            guard let stream = change.index.stream(id), change.index.entries.contains(where: { $0.stream == id })
            else { return nil }
            let path = change.path(of: stream)
            guard let file = try? change.folder.fileToChange(at: path), let status = try? file.status,
                stream.isIn(status), status.exposure == nil, status.links == 1, !Self.isExpired(status),
                (try? PlatformCalls.tryLock(file.descriptor, path)) == true
            else { return nil }
            let before = change.index
            let most = streamRoom(for: copy.manifest, 0)
            let free = max(0, budget - (change.index.size - stream.room))
            let room = max(status.size, min(most, free))
            change.index.give(room, to: stream)
            if change.index != before { try change.save() }
            return UnfinishedShipment(self, id, file, used: status.size, room: room)
        }
        return found ?? nil
    }
}
