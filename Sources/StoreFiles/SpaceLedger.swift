package import StoreFormat
import Synchronization
package import SystemPackage

/// Counts the bytes of each disk that are reserved for what this process is still to write, so that two pieces of work never count on
/// the same bytes: shipments that come in, the files in which they are sorted, copies and their profiles, and what a restore writes.
///
/// It does not know what others write. So it looks anew at what is free for each reservation.
package final class SpaceLedger: Sendable {
    /// The one of this process.
    package static let ofProcess = SpaceLedger()

    /// Bytes for each device.
    private let reserved = Mutex<[UInt64: Int64]>([:])

    package init() {}

    /// - Parameters:
    ///   - size: Bytes that are still to come.
    ///   - kept: Bytes that stay free: for the file system's own bookkeeping, and for others.
    ///   - place: What lies on the disk: a file or a folder.
    /// - Throws: `.tooLittle`, `.file`.
    package func reserve(
        _ size: Int64, leaving kept: Int64 = 0, around place: FilePath
    ) throws(DiskReservation.Refusal) -> DiskReservation {
        let reservation: DiskReservation
        do throws(FileError) {
            reservation = try DiskReservation(around: place, leaving: kept, self)
        } catch {
            throw .file(error)
        }
        try reservation.extend(by: size)
        return reservation
    }

    /// - Parameter folder: Where, whatever becomes of its name.
    /// - Throws: `.tooLittle`, `.file`.
    package func reserve(
        _ size: Int64, leaving kept: Int64 = 0, in folder: borrowing OpenFolder
    ) throws(DiskReservation.Refusal) -> DiskReservation {
        let reservation: DiskReservation
        do throws(FileError) {
            reservation = try DiskReservation(in: folder, leaving: kept, self)
        } catch {
            throw .file(error)
        }
        try reservation.extend(by: size)
        return reservation
    }

    fileprivate func take(
        _ size: Int64, on device: UInt64, having free: Int64, leaving kept: Int64
    ) throws(DiskReservation.Refusal) {
        let needed: Int64? = reserved.withLock { reserved in
            let before = reserved[device] ?? 0
            let needed = [size, before, kept].reduce(Int64(0)) { sum, part in
                let (total, overflow) = sum.addingReportingOverflow(part)
                return overflow ? .max : total
            }
            guard needed <= free else { return needed }
            reserved[device] = before + size
            return nil
        }
        if let needed { throw .tooLittle(needed: needed, free: free) }
    }

    fileprivate func add(_ bytes: Int64, to device: UInt64) {
        guard bytes != 0 else { return }
        reserved.withLock { reserved in
            let left = (reserved[device] ?? 0) + bytes
            reserved[device] = left == 0 ? nil : left
        }
    }
}

/// Space on a disk for one piece of work, as far as that has not written it yet. The last reference gives back what is left.
package final class DiskReservation: Sendable {
    /// Why there is no reservation.
    package enum Refusal: Error, Hashable, Sendable {
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
    /// Bytes that are promised, and those of them that are on the disk.
    private let bytes = Mutex((promised: Int64(0), used: Int64(0)))

    /// Promises nothing yet.
    fileprivate init(around place: FilePath, leaving kept: Int64, _ ledger: SpaceLedger) throws(FileError) {
        self.ledger = ledger
        self.kept = kept
        self.place = place
        device = try PlatformCalls.statusFollowingLinks(of: place).device
        folder = nil
    }

    /// Promises nothing yet.
    fileprivate init(in folder: borrowing OpenFolder, leaving kept: Int64, _ ledger: SpaceLedger) throws(FileError) {
        // A descriptor of its own: the reservation may outlive the folder's.
        let copy = OpenFile.owning(try PlatformCalls.duplicate(folder.descriptor, folder.path), as: folder.path)
        self.ledger = ledger
        self.kept = kept
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
    ///
    /// - Throws: `.tooLittle`, `.file`.
    package func extend(by bytes: Int64) throws(Refusal) {
        let free: Int64
        do throws(FileError) {
            free = try self.free
        } catch {
            throw .file(error)
        }
        try ledger.take(bytes, on: device, having: free, leaving: kept)
        self.bytes.withLock { $0.promised += bytes }
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

/// A file for entries that do not fit into memory. It has no name, and goes with its owner, or with the process.
package final class EntrySpill: SpillFile {
    private let file: OpenFile
    private let room: (any SpillSpace)?
    private var size: Int64 = 0

    /// - Parameters:
    ///   - path: A name that is free, and free again once this is made.
    ///   - room: What counts its bytes.
    package init(at path: FilePath, in room: (any SpillSpace)? = nil) throws(FileError) {
        file = try OpenFile.creating(path)
        self.room = room
        try PlatformCalls.removeFile(path)
    }

    deinit { room?.giveBack(size) }

    package func append(_ bytes: [UInt8]) throws {
        try room?.take(Int64(bytes.count))
        // `deinit` gives them back, whatever becomes of the writing.
        size += Int64(bytes.count)
        try file.write(bytes)
        room?.wrote(Int64(bytes.count))
    }

    package func read(_ count: Int, at offset: Int64) throws -> [UInt8] { try file.read(count, at: offset) }
}

/// Space that is reserved bit by bit, as it is needed.
package struct GrowingReservation: SpillSpace {
    private let reservation: DiskReservation
    private let explain: @Sendable (DiskReservation.Refusal) -> any Error

    /// - Parameter explain: Makes of a refusal the error that the writer throws.
    package init(_ reservation: DiskReservation, explain: @escaping @Sendable (DiskReservation.Refusal) -> any Error) {
        self.reservation = reservation
        self.explain = explain
    }

    package func take(_ bytes: Int64) throws {
        do throws(DiskReservation.Refusal) {
            try reservation.extend(by: bytes)
        } catch {
            throw explain(error)
        }
    }

    package func wrote(_ bytes: Int64) { reservation.use(bytes) }

    package func giveBack(_ bytes: Int64) { reservation.shrink(by: bytes) }
}
