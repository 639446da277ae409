package import StoreFormat
import Synchronization
package import SystemPackage

/// The room on each disk that has been promised to what is still to be written, so that two never count on the same bytes:
/// shipments that come in and what they are sorted in, copies and their profiles, and what a restore writes.
///
/// What others write is not known. So what is free is looked at anew for each promise.
package final class SpaceLedger: Sendable {
    /// Of all work of this process.
    package static let ofProcess = SpaceLedger()

    /// Why there is no promise.
    package enum Refusal: Error, Hashable, Sendable {
        /// Both figures are in bytes; what is promised to others and what has to stay free are needed too.
        case tooLittle(needed: Int64, free: Int64)
        case file(FileError)
    }

    /// Room for one piece of work, as far as it has not been written to yet. What is left of it is given back with its last
    /// reference.
    package final class Promise: Sendable {
        private let ledger: SpaceLedger
        private let disk: Disk
        private let reserve: Int64
        private let state: Mutex<State>

        private struct State {
            var size: Int64
            /// Bytes that are on the disk.
            var used = Int64(0)

            var outstanding: Int64 { size - min(used, size) }
        }

        fileprivate init(_ size: Int64, _ disk: Disk, leaving reserve: Int64, _ ledger: SpaceLedger) {
            self.ledger = ledger
            self.disk = disk
            self.reserve = reserve
            state = Mutex(State(size: size))
        }

        deinit { ledger.add(-state.withLock { $0.outstanding }, to: disk.device) }

        /// So many bytes more are on the disk.
        package func use(_ bytes: Int64) { change { $0.used += max(0, bytes) } }

        /// So many bytes are on the disk no more, and come again.
        package func takeBack(_ bytes: Int64) {
            change { $0.used = bytes > $0.used ? 0 : $0.used - max(0, bytes) }
        }

        /// So many bytes are needed beyond what was promised.
        ///
        /// - Throws: `.tooLittle`, `.file`.
        package func extend(by bytes: Int64) throws(Refusal) {
            try ledger.reserve(bytes, on: disk, leaving: reserve)
            state.withLock { $0.size += bytes }
        }

        /// So many bytes that were used are on the disk no more, and do not come again.
        package func shrink(by bytes: Int64) {
            change { state in
                state.size -= bytes
                state.used -= bytes
            }
        }

        private func change(_ body: (inout State) -> Void) {
            state.withLock { state in
                let before = state.outstanding
                body(&state)
                ledger.add(state.outstanding - before, to: disk.device)
            }
        }
    }

    /// Where something is to be written, and how to find out what is free there.
    fileprivate struct Disk: Sendable {
        let device: UInt64
        let free: @Sendable () throws(FileError) -> Int64
    }

    private let promised = Mutex<[UInt64: Int64]>([:])

    package init() {}

    /// - Parameters:
    ///   - size: Bytes that are still to come.
    ///   - reserve: Bytes that stay free: for the file system's own bookkeeping, and for others.
    ///   - place: What lies on the disk: a file or a folder.
    /// - Throws: `.tooLittle`, `.file`.
    package func promise(
        _ size: Int64, leaving reserve: Int64 = 0, around place: FilePath
    ) throws(Refusal) -> Promise {
        let device: UInt64
        do throws(FileError) {
            device = try PlatformCalls.statusFollowingLinks(of: place).device
        } catch {
            throw .file(error)
        }
        return try promise(
            size, leaving: reserve,
            on: Disk(device: device) { () throws(FileError) in try PlatformCalls.freeSpace(around: place) })
    }

    /// - Parameter folder: Where, whatever becomes of its name.
    /// - Throws: `.tooLittle`, `.file`.
    package func promise(
        _ size: Int64, leaving reserve: Int64 = 0, in folder: borrowing OpenFolder
    ) throws(Refusal) -> Promise {
        let disk: Disk
        do throws(FileError) {
            // A descriptor of its own: the promise may outlive the folder's.
            let place = OpenFile.owning(try PlatformCalls.duplicate(folder.descriptor, folder.path), as: folder.path)
            let device = try place.status.device
            let opened = OpenPlace(place)
            disk = Disk(device: device) { () throws(FileError) in
                try PlatformCalls.freeSpace(around: opened.file.descriptor, opened.file.path)
            }
        } catch {
            throw .file(error)
        }
        return try promise(size, leaving: reserve, on: disk)
    }

    private final class OpenPlace: Sendable {
        let file: OpenFile
        init(_ file: consuming OpenFile) { self.file = file }
    }

    private func promise(_ size: Int64, leaving reserve: Int64, on disk: Disk) throws(Refusal) -> Promise {
        try self.reserve(size, on: disk, leaving: reserve)
        return Promise(size, disk, leaving: reserve, self)
    }

    private func reserve(_ size: Int64, on disk: Disk, leaving reserve: Int64) throws(Refusal) {
        let free: Int64
        do throws(FileError) {
            free = try disk.free()
        } catch {
            throw .file(error)
        }
        let needed: Int64? = promised.withLock { promised in
            let before = promised[disk.device] ?? 0
            let needed = [size, before, reserve].reduce(Int64(0)) { sum, part in
                let (total, overflow) = sum.addingReportingOverflow(part)
                return overflow ? .max : total
            }
            guard needed <= free else { return needed }
            promised[disk.device] = before + size
            return nil
        }
        if let needed { throw .tooLittle(needed: needed, free: free) }
    }

    private func add(_ bytes: Int64, to device: UInt64) {
        guard bytes != 0 else { return }
        promised.withLock { promised in
            let left = (promised[device] ?? 0) + bytes
            promised[device] = left == 0 ? nil : left
        }
    }
}

/// Where entries go that do not fit into memory: a file without a name, which is gone with its owner, or with the process.
package final class EntrySpill: SpillFile {
    private let file: OpenFile
    private let room: (any SpillRoom)?
    private var size: Int64 = 0

    /// - Parameters:
    ///   - path: A name that is free, and free again once this is made.
    ///   - room: What its bytes are counted in.
    package init(at path: FilePath, in room: (any SpillRoom)? = nil) throws(FileError) {
        file = try OpenFile.creating(path)
        self.room = room
        try PlatformCalls.removeFile(path)
    }

    deinit { room?.giveBack(size) }

    package func append(_ bytes: [UInt8]) throws {
        try room?.take(Int64(bytes.count))
        // From here on they are given back with this, whatever becomes of the writing.
        size += Int64(bytes.count)
        try file.write(bytes)
        room?.wrote(Int64(bytes.count))
    }

    package func read(_ count: Int, at offset: Int64) throws -> [UInt8] { try file.read(count, at: offset) }
}

/// Room that is promised as it is needed.
package struct PromisedRoom: SpillRoom {
    private let promise: SpaceLedger.Promise
    private let explain: @Sendable (SpaceLedger.Refusal) -> any Error

    /// - Parameter explain: What a refusal is to whoever writes.
    package init(_ promise: SpaceLedger.Promise, explain: @escaping @Sendable (SpaceLedger.Refusal) -> any Error) {
        self.promise = promise
        self.explain = explain
    }

    package func take(_ bytes: Int64) throws {
        do throws(SpaceLedger.Refusal) {
            try promise.extend(by: bytes)
        } catch {
            throw explain(error)
        }
    }

    package func wrote(_ bytes: Int64) { promise.use(bytes) }

    package func giveBack(_ bytes: Int64) { promise.shrink(by: bytes) }
}
