import Synchronization
package import SystemPackage

/// Counts the bytes of each disk that are reserved for what this process is still to write, so that two pieces of work never count on
/// the same bytes: shipments that come in, the files in which they are sorted, copies and their profiles, and what a restore writes.
///
/// It does not know what others write. So it looks anew at what is free for each reservation.
package final class SpaceLedger: Sendable {
    package static let ofProcess = SpaceLedger()

    /// Bytes for each device.
    private let reserved = Mutex<[UInt64: Int64]>([:])

    package init() {}

    /// - Parameters:
    ///   - size: Bytes that are still to come.
    ///   - kept: Bytes that stay free: for the file system's own bookkeeping, and for others.
    ///   - place: What lies on the disk: a file or a folder.
    package func reserve(
        _ size: Int64, leaving kept: Int64 = 0, around place: FilePath
    ) throws(DiskReservation.Refusal) -> DiskReservation {
        let reservation = try DiskReservation.Refusal.wrapping { () throws(FileError) in
            try DiskReservation(around: place, leaving: kept, self)
        }
        try reservation.extend(by: size)
        return reservation
    }

    /// - Parameters:
    ///   - folder: Where, whatever becomes of its name.
    ///   - makeWay: Removes what may go, before anything is refused to the reservation.
    package func reserve(
        _ size: Int64, leaving kept: Int64 = 0, in folder: borrowing OpenFolder,
        makingWay makeWay: @escaping @Sendable () -> Void = {}
    ) throws(DiskReservation.Refusal) -> DiskReservation {
        let reservation = try DiskReservation.Refusal.wrapping { () throws(FileError) in
            try DiskReservation(in: folder, leaving: kept, self, makingWay: makeWay)
        }
        try reservation.extend(by: size)
        return reservation
    }

    func take(
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

    func add(_ bytes: Int64, to device: UInt64) {
        guard bytes != 0 else { return }
        reserved.withLock { reserved in
            let left = (reserved[device] ?? 0) + bytes
            reserved[device] = left == 0 ? nil : left
        }
    }
}
