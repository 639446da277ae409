import Dispatch
import ShipProtocol
import StoreFiles
import StoreFormat
import Synchronization
import SystemPackage

/// Whether there is in the tables of a store what its manifest says: a walk over its pages, without SQLite and beside it, in a
/// thread of its own.
///
/// Source: `Protocol/README.md` section 4.8.
final class TableCheck: Sendable {
    private struct TimeIsOver: Error {}

    private let claims: [ForeignText: TableContent]
    private let limits: CheckLimits
    private let isWanted = Atomic(true)
    private let outcome = Mutex<Result<[ForeignText: TableContent], any Error>?>(nil)
    private let reading = DispatchGroup()

    /// Starts to read.
    init(of path: FilePath, against claims: [ForeignText: TableContent], _ limits: CheckLimits) {
        self.claims = claims
        self.limits = limits
        let end = ContinuousClock.now + limits.time
        DispatchQueue(label: "ship-store tables").async(group: reading) {
            let found = Result {
                try TableDigests.read(path) {
                    guard self.isWanted.load(ordering: .relaxed) else { throw CancellationError() }
                    if ContinuousClock.now >= end { throw TimeIsOver() }
                }.contents
            }
            self.outcome.withLock { $0 = found }
        }
    }

    /// Ends the reading, if it has not ended yet: nothing reads the store any more.
    func end() {
        isWanted.store(false, ordering: .relaxed)
        reading.wait()
    }

    /// Waits for the end of it.
    ///
    /// - Throws: `.contradictsManifest`, `.unsound`, `.tookTooLong`, `.file`.
    func finish() throws(StoreCheck.Flaw) {
        reading.wait()
        switch outcome.withLock({ $0 }) {
        case .success(let found): guard found == claims else { throw .contradictsManifest("tables") }
        case .failure(let error as FileError): throw .file(error)
        case .failure(is TimeIsOver): throw .tookTooLong(limits.time)
        case .failure, nil: throw .unsound("the pages of its tables lead astray")
        }
    }
}
