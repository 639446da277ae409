import EssentialFoundation
package import ShipProtocol
package import StoreFiles
import Synchronization
package import SystemPackage

/// The record of a shipment that is being sent: its copy, and the data of the open part that have been sent. If the link breaks, or
/// this process is killed, the next session resumes the shipment.
///
/// No failure here fails the shipment: data that cannot be recorded end the recording, and the record up to there stays of use. While
/// this object lives, no other session resumes the shipment, and its stream is not removed.
package final class UnfinishedShipment: Sendable {
    /// Bytes that are reserved at a time.
    private static let step: Int64 = 1024 * 1024

    private let memory: BaseMemory
    let id: String
    /// Locked.
    private let file: OpenFile
    /// Most bytes that the file may have.
    private let limit: Int64
    private let used: Mutex<Int64>
    let reservation: DiskReservation?

    fileprivate init(_ memory: BaseMemory, _ id: String, _ file: consuming OpenFile, used: Int64, limit: Int64) {
        (self.memory, self.id, self.limit) = (memory, id, limit)
        self.file = file
        self.used = Mutex(used)
        reservation = try? memory.reserve(0)
    }

    /// Counts bytes that are about to be written.
    ///
    /// - Returns: Whether there is room for them.
    package func mayGrow(by bytes: Int64) -> Bool {
        used.withLock { used in
            guard used + bytes <= limit, let reservation else { return false }
            let missing = bytes - reservation.left
            if missing > 0, (try? reservation.extend(by: max(Self.step, missing))) == nil { return false }
            used += bytes
            reservation.use(bytes)
            return true
        }
    }

    /// The stream of the open part that has been sent, to resume after it.
    ///
    /// - Returns: `nil` if there is nothing that can be read.
    package func recorded() -> PartStream? { try? PartStream(going: try duplicate()) }

    /// Begins the stream of a part, and drops the stream of the part before, or of this part in another encoding.
    ///
    /// - Returns: `nil` if there is no room.
    package func makeStream(_ header: PartStream.Header) throws(FileError) -> PartStream? {
        reservation?.takeBack(.max)
        try file.truncate(to: 0)
        used.withLock { $0 = 0 }
        guard mayGrow(by: 128) else { return nil }
        return try PartStream(header, writing: try duplicate())
    }

    /// Drops the record of a shipment that will not be resumed, and its copy, unless that has been acknowledged
    /// (`BaseMemory.remember`, before this).
    package func finish() {
        _ = try? memory.whileLocked { (change) throws(BaseMemoryError) in
            let before = change.index
            _ = change.index.remove { $0.stream == id }
            // This object may remove it: it holds the lock, through another description of the file.
            if let stream = change.index.stream(id), change.remove(stream, isLocked: true) { change.index.drop(stream) }
            change.removeUnused()
            if change.index != before { try change.save() }
            change.removeIfEmpty()
        }
    }

    private func duplicate() throws(FileError) -> OpenFile { try OpenFile.duplicating(file.descriptor, as: file.path) }
}

extension BaseMemory {
    /// The least size of a stream that is worth recording, in bytes.
    static let leastStreamLimit: Int64 = 128 * 1024

    /// Keeps the copy of a shipment that is being sent until the shipment is finished, in place of the one that was unfinished for the
    /// same receiver. No acknowledged copy goes for it; external files that are remembered with one may.
    ///
    /// - Parameters:
    ///   - copy: The file, which keeps its name and is not written to any more. Its content has to be in the memory already, or the
    ///     file on the memory's file system: it is not copied.
    ///   - receiver: A device's id, or the endpoint.
    ///   - state: Given back with it, of at most `BaseIndex.stateLimit` bytes.
    /// - Returns: `nil` if the copy cannot be kept: then the shipment is sent all the same.
    package func begin(
        _ manifest: Manifest, copy: FilePath, as key: BaseKey, receiver: String, state: [UInt8]? = nil
    ) -> UnfinishedShipment? {
        try? beginning(Proposal(manifest: manifest, key: key, receiver: receiver, state: state), copy)
    }

    private func beginning(_ proposal: Proposal, _ copy: FilePath) throws(BaseMemoryError) -> UnfinishedShipment? {
        let (manifest, source) = (proposal.manifest, try status(of: copy))
        guard proposal.refusal(of: source) == nil else { return nil }
        let limit = streamLimit(for: manifest, Int64(proposal.encodedManifest.count))
        guard limit >= Self.leastStreamLimit else { return nil }

        try make()
        var offer: Offer?
        if source.links == 1, source.device == (try status(of: folder)).device {
            offer = Offer(path: copy, inode: source.inode, isInUse: true)
        } else if try !isKnown(manifest.store.sha256) {
            return nil
        }
        let place = try BaseMemoryError.wrapping { () throws(FileError) in try TemporaryFolder(in: folder) }
        let path = place.path.appending("stream")
        let file = try BaseMemoryError.wrapping { () throws(FileError) in
            let file = try OpenFile.creating(path)
            // No other process knows it yet.
            guard try PlatformCalls.tryLock(file.descriptor, path) else { throw FileError(.lock, path, .wouldBlock) }
            return file
        }
        let inode = try BaseMemoryError.wrapping { () throws(FileError) in try file.status.inode }
        let stream = BaseIndex.Stream(id: UUID().uuidString, inode: inode, room: limit)
        let outcome = try whileLocked { (change) throws(BaseMemoryError) in
            try change.put(proposal, offer, stream: (path, stream), in: place.path, budget: budget)
        }
        return outcome == .remembered ? UnfinishedShipment(self, stream.id, file, used: 0, limit: limit) : nil
    }

    /// Most bytes that a stream may have: as many as the receiver may have of it, or less where the budget is small. A shipment that
    /// breaks off beyond the limit begins anew.
    private func streamLimit(for manifest: Manifest, _ manifestSize: Int64) -> Int64 {
        min(manifest.totalSize + manifest.totalSize / 64 + 1024 * 1024, budget - manifest.store.size - manifestSize)
    }

    /// The unfinished shipments of a store, the newest first; also those that another session is sending now.
    package func unfinished(of key: BaseKey) -> [RememberedCopy] {
        copies(of: key) { entry in
            guard let id = entry.stream,
                let status = try? PlatformCalls.status(of: path(ofObject: id))
            else { return false }
            return !Self.isExpired(status)
        }
    }

    /// Resumes a shipment that broke off; `RememberedCopy.open` opens its copy.
    ///
    /// - Returns: `nil` if another session has it, or its stream is gone.
    package func resume(_ copy: RememberedCopy) -> UnfinishedShipment? {
        guard let id = copy.record.entry.stream else { return nil }
        let found = try? whileLocked { (change) throws(BaseMemoryError) -> UnfinishedShipment? in
            guard let stream = change.index.stream(id), change.index.entries.contains(where: { $0.stream == id })
            else { return nil }
            let path = change.path(of: stream)
            guard let file = try? change.folder.file(at: path, .readWrite), let status = try? file.status,
                stream.isIn(status), status.exposure == nil, status.links == 1, !Self.isExpired(status),
                (try? PlatformCalls.tryLock(file.descriptor, path)) == true
            else { return nil }
            let before = change.index
            let most = streamLimit(for: copy.manifest, 0)
            let free = max(0, budget - (change.index.size - stream.room))
            let limit = max(status.size, min(most, free))
            change.index.give(limit, to: stream)
            if change.index != before { try change.save() }
            return UnfinishedShipment(self, id, file, used: status.size, limit: limit)
        }
        return found ?? nil
    }
}
