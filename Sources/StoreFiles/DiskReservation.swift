import Synchronization
import SystemPackage

/// Space on a disk for one piece of work, as far as that has not written it yet. The last reference gives back what is left.
package final class DiskReservation: Sendable {
    /// Why there is no reservation.
    package enum Refusal: Error, FileErrorWrapping, Hashable, Sendable {
        /// Both figures are in bytes; `needed` counts what others have reserved and what has to stay free, too.
        case tooLittle(needed: Int64, free: Int64)
        case file(FileError)
    }

    private let ledger: SpaceLedger
    /// The disk, and a place on it.
    private let device: UInt64
    private let place: FilePath
    /// The place, open, where its name may change.
    private let folder: OpenFile?
    private let kept: Int64
    private let makeWay: @Sendable () -> Void
    /// Bytes that are promised, and those of them that are on the disk.
    private let bytes = Mutex((promised: Int64(0), used: Int64(0)))

    /// Promises nothing yet.
    init(around place: FilePath, leaving kept: Int64, _ ledger: SpaceLedger) throws(FileError) {
        self.ledger = ledger
        self.kept = kept
        self.place = place
        makeWay = {}
        device = try PlatformCalls.statusFollowingLinks(of: place).device
        folder = nil
    }

    /// Promises nothing yet.
    init(
        in folder: borrowing OpenFolder, leaving kept: Int64, _ ledger: SpaceLedger,
        makingWay makeWay: @escaping @Sendable () -> Void
    ) throws(FileError) {
        // A descriptor of its own: the reservation may outlive the folder's.
        let copy = try OpenFile.duplicating(folder.descriptor, as: folder.path)
        self.ledger = ledger
        (self.kept, self.makeWay) = (kept, makeWay)
        place = folder.path
        device = try copy.status.device
        self.folder = consume copy
    }

    deinit { ledger.add(-bytes.withLock { Self.outstanding($0) }, to: device) }

    private static func outstanding(_ bytes: (promised: Int64, used: Int64)) -> Int64 {
        bytes.promised - min(bytes.used, bytes.promised)
    }

    /// Bytes that are free on the disk.
    private var free: Int64 {
        get throws(FileError) {
            switch folder {
            case .some(let folder): try PlatformCalls.freeSpace(around: folder.descriptor, place)
            case .none: try PlatformCalls.freeSpace(around: place)
            }
        }
    }

    /// The work has written more bytes.
    package func use(_ bytes: Int64) { change { $0.used += max(0, bytes) } }

    /// Bytes that the work had written are off the disk again, and it will write them once more.
    package func takeBack(_ bytes: Int64) {
        change { $0.used = bytes > $0.used ? 0 : $0.used - max(0, bytes) }
    }

    /// The work needs more bytes than were reserved.
    package func extend(by bytes: Int64) throws(Refusal) {
        if (try? take(bytes)) != nil { return }
        makeWay()
        try take(bytes)
    }

    /// Reserves more bytes, which are about to be written.
    ///
    /// - Returns: Whether there is room for them.
    package func grow(by bytes: Int64) -> Bool {
        guard (try? extend(by: bytes)) != nil else { return false }
        use(bytes)
        return true
    }

    private func take(_ bytes: Int64) throws(Refusal) {
        let free = try Refusal.wrapping { () throws(FileError) in try self.free }
        try self.bytes.withLock { (own) throws(Refusal) in
            // What is written already beyond the promise takes no room any more.
            let before = Self.outstanding(own)
            let after = Self.outstanding((own.promised + bytes, own.used))
            try ledger.take(after - before, on: device, having: free, leaving: kept)
            own.promised += bytes
        }
    }

    /// Counts as promised what is written beyond the promise.
    ///
    /// - Parameter most: Bytes of it, at most.
    /// - Returns: How many bytes.
    package func settle(upTo most: Int64) -> Int64 {
        bytes.withLock { bytes in
            let over = min(most, max(0, bytes.used - bytes.promised))
            bytes.promised += over
            return over
        }
    }

    /// Bytes that are promised and not written yet.
    package var left: Int64 { bytes.withLock { Self.outstanding($0) } }

    /// Fewer bytes are promised: others may take them first.
    package func release(_ bytes: Int64) { change { $0.promised -= bytes } }

    /// Bytes that the work had written are off the disk again, for good.
    package func shrink(by bytes: Int64) {
        change {
            $0.promised -= bytes
            $0.used -= bytes
        }
    }

    private func change(_ body: (inout (promised: Int64, used: Int64)) -> Void) {
        bytes.withLock { bytes in
            let before = Self.outstanding(bytes)
            body(&bytes)
            ledger.add(Self.outstanding(bytes) - before, to: device)
        }
    }
}
