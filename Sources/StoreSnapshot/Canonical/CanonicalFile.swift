import Dispatch
import ShipProtocol
import StoreFiles
import StoreFormat
import Synchronization
import SystemPackage

/// The step from what SQLite left to the canonical copy.
///
/// Source: `Protocol/CANONICAL.md`.
enum CanonicalFile {
    /// What it is made of.
    enum Source {
        /// What `VACUUM INTO` left. It goes.
        case compact(FilePath)
        /// A copy of the store's pages as they are. It goes. The compact copy would have the rows of `sqlite_schema` in this
        /// order, by their rowids.
        case pages(FilePath, CompactOrder)
        /// The pages of the store itself, likewise.
        case live(SnapshotPages, CompactOrder)

        /// A file that is there for this alone.
        fileprivate var file: FilePath? {
            switch self {
            case .compact(let path), .pages(let path, _): path
            case .live: nil
            }
        }
    }

    /// What becomes of a copy.
    enum Outcome {
        /// Its canonical form is there: what is in its tables, `nil` if that cannot be told of all of them.
        case made(tables: [ForeignText: TableContent]?)
        /// It has none, because of this.
        case impossible(StoreFlaw)
    }

    /// Pieces of rows that wait to be written, and to be hashed.
    private static let mostWaiting = 8

    /// - Parameter target: A file that is not there yet; nothing is there if the copy has no canonical form.
    /// - Throws: `.cancelled`, `.noSpace`, `.file`.
    static func make(
        of source: Source, as target: FilePath, _ interruption: Interruption
    ) throws(SnapshotError) -> Outcome {
        var needed: Int64 = 0
        do {
            let making: CanonicalMaking
            let written: PageFile
            switch source {
            case .compact(let path):
                let pages = try PageFile(reading: path) { try interruption.check() }
                needed = pages.size
                written = try PageFile(creating: target, pageSize: pages.pageSize)
                making = try CanonicalMaking(ofCompact: pages, to: written)
            case .pages(let path, let order):
                let pages = try PageFile(reading: path) { try interruption.check() }
                needed = pages.size
                written = try PageFile(creating: target, pageSize: pages.pageSize)
                making = try CanonicalMaking(ofScattered: pages, order, to: written)
            case .live(let pages, let order):
                needed = pages.size
                written = try PageFile(creating: target, pageSize: pages.pageSize)
                making = try CanonicalMaking(ofScattered: pages, order, to: written)
            }
            let tables = try run(making)
            try written.flush()
            if let file = source.file { try PlatformCalls.removeFile(file) }
            return .made(tables: tables)
        } catch {
            try? PlatformCalls.removeFile(target)
            switch error {
            case let flaw as StoreFlaw: return .impossible(flaw)
            case let error as SnapshotError: throw error
            case let error as FileError: throw SnapshotError(writing: error, needed: needed)
            default: throw .file(FileError(.write, target, .ioError))
            }
        }
    }

    private struct NobodyTakes: Error {}

    /// Reads here what a thread of its own writes and another one hashes.
    private static func run(_ making: CanonicalMaking) throws -> [ForeignText: TableContent]? {
        let writing = HandOver<TreeRows>(most: mostWaiting)
        let hashing = HandOver<TreeRows>(most: mostWaiting)
        let failure = Mutex<(any Error)?>(nil)
        let digests = Mutex(TableDigests(textEncoding: making.settings.textEncoding))
        // One thread has it at a time: the one that writes, until all have ended.
        nonisolated(unsafe) let writer = making.writer
        let others = DispatchGroup()
        DispatchQueue(label: "ship-store canonical form").async(group: others) {
            do {
                while let rows = writing.take() { try writer.take(rows) }
            } catch {
                failure.withLock { $0 = error }
                writing.leave()
            }
        }
        DispatchQueue(label: "ship-store table digests").async(group: others) {
            digests.withLock { digests in
                while let rows = hashing.take() { digests.take(rows) }
            }
        }
        let reading = Result {
            try making.read { rows in
                guard writing.give(rows) else { throw NobodyTakes() }
                _ = hashing.give(rows)
            }
        }
        writing.end()
        hashing.end()
        others.wait()
        if let error = failure.withLock({ $0 }) { throw error }
        try reading.get()
        try making.writer.finish()
        return digests.withLock { $0.told }
    }
}
