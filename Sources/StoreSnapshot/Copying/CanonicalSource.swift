import Dispatch
import ShipProtocol
import StoreFiles
import StoreFormat
import Synchronization
import SystemPackage

/// The source of the canonical form of a copy.
///
/// Source: `Protocol/CANONICAL.md`.
enum CanonicalSource {
    /// The file that `VACUUM INTO` left. The file is removed afterwards.
    case compact(FilePath)
    /// A copy of the store's pages as they are, and the order that the rows of `sqlite_schema` would have in the compact
    /// copy, by their rowids. The file is removed afterwards.
    case pages(FilePath, CompactOrder)
    /// The pages of the live store, with the same order.
    case live(SnapshotPages, CompactOrder)

    /// The file to remove afterwards.
    private var file: FilePath? {
        switch self {
        case .compact(let path), .pages(let path, _): path
        case .live: nil
        }
    }

    /// The content of the tables, `nil` if that cannot be told of all of them; or why there is no canonical form.
    typealias Outcome = Result<[ForeignText: TableContent]?, StoreFlaw>

    /// Most pieces of rows that wait for the writing thread, and for the hashing thread.
    private static let mostWaiting = 8

    /// Writes the canonical form.
    ///
    /// - Parameters:
    ///   - target: A file that is not there yet; nothing is there if the copy has no canonical form.
    ///   - watch: Of the store.
    /// - Throws: `.cancelled`, `.noSpace`, `.file`.
    func makeCanonical(as target: FilePath, _ watch: ConnectionWatch) throws(SnapshotError) -> Outcome {
        var needed: Int64 = 0
        func write(_ pageSize: Int, _ size: Int64) throws -> PageFile {
            needed = size
            return try PageFile(creating: target, pageSize: pageSize, like: watch.earlierCopy)
        }
        do {
            let making: CanonicalForm
            let written: PageFile
            switch self {
            case .compact(let path):
                let pages = try PageFile(reading: path) { try watch.interruption.check() }
                written = try write(pages.pageSize, pages.size)
                making = try CanonicalForm(ofCompact: pages, to: written)
            case .pages(let path, let order):
                let pages = try PageFile(reading: path) { try watch.interruption.check() }
                written = try write(pages.pageSize, pages.size)
                making = try CanonicalForm(ofScattered: pages, order, to: written)
            case .live(let pages, let order):
                written = try write(pages.pageSize, pages.size)
                making = try CanonicalForm(ofScattered: pages, order, to: written)
            }
            let tables = try Self.run(making)
            try written.finish()
            if let file { try PlatformCalls.removeFile(file) }
            return .success(tables)
        } catch {
            try? PlatformCalls.removeFile(target)
            switch error {
            case let flaw as StoreFlaw: return .failure(flaw)
            case let error as SnapshotError: throw error
            case let error as FileError: throw SnapshotError(writing: error, needed: needed)
            default: throw .file(FileError(.write, target, .ioError))
            }
        }
    }

    /// Reads the rows here, while a second thread writes them and a third one hashes them.
    private static func run(_ making: CanonicalForm) throws -> [ForeignText: TableContent]? {
        let writing = BoundedQueue<TreeRows>(most: mostWaiting)
        let hashing = BoundedQueue<TreeRows>(most: mostWaiting)
        let failure = Mutex<(any Error)?>(nil)
        let digests = Mutex(TableDigests(textEncoding: making.settings.textEncoding))
        // Only the writing thread uses it, until all threads have ended.
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
                // The writer has failed: its own error is thrown below.
                guard writing.give(rows) else { throw CancellationError() }
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
