import StoreFiles
import StoreInbox
import Synchronization

/// The room on the disk that has been promised to the shipments that are on their way in, so that two do not count on the
/// same bytes.
final class SpaceLedger: Sendable {
    /// Room for one shipment, as far as it has not been written to yet. What is left of it is given back with its last
    /// reference.
    final class Promise: Sendable {
        private let ledger: SpaceLedger
        private let size: Int64
        /// Bytes that are on the disk.
        private let used = Mutex<Int64>(0)

        fileprivate init(_ size: Int64, _ ledger: SpaceLedger) {
            self.ledger = ledger
            self.size = size
        }

        deinit { ledger.giveBack(size - used.withLock { min($0, size) }) }

        /// So many bytes more are on the disk.
        func use(_ bytes: Int64) { change(by: max(0, bytes)) }

        /// So many bytes are on the disk no more, and come again.
        func takeBack(_ bytes: Int64) { change(by: -max(0, bytes)) }

        private func change(by bytes: Int64) {
            used.withLock { used in
                let before = min(used, size)
                used = max(0, used + bytes)
                ledger.giveBack(min(used, size) - before)
            }
        }
    }

    private let reserve: Int64
    private let promised = Mutex<Int64>(0)

    /// - Parameter reserve: Bytes that stay free.
    init(reserve: Int64) { self.reserve = reserve }

    /// - Parameter size: Bytes of a shipment that are still to come.
    /// - Throws: `.noSpace`, `.file`.
    func promise(_ size: Int64, in folder: borrowing OpenFolder) throws(InboxError) -> Promise {
        let free: Int64
        do throws(FileError) {
            free = try folder.freeSpace
        } catch {
            throw .file(error)
        }
        let needed: Int64? = promised.withLock { promised in
            let needed = [size, promised, reserve].reduce(Int64(0)) { sum, part in
                let (total, overflow) = sum.addingReportingOverflow(part)
                return overflow ? .max : total
            }
            guard needed <= free else { return needed }
            promised += size
            return nil
        }
        if let needed { throw .noSpace(needed: needed, free: free) }
        return Promise(size, self)
    }

    private func giveBack(_ bytes: Int64) { promised.withLock { $0 -= bytes } }
}
