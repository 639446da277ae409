import Dispatch
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage

/// The findings about a copy from its bytes alone: its SHA-256, and whether SQLite's own check passes. Each is read in a thread of its own,
/// side by side with what else there is to do with the copy.
///
/// Nothing reads the copy any more once this is dropped: the owner of the file may then remove it.
final class CopyProof: Sendable {
    private let interruption: Interruption
    private let reading = DispatchGroup()
    private let findings = Findings()

    /// The findings of the threads. They keep this, and not the proof.
    private final class Findings: Sendable {
        let digest = Mutex<Result<ContentDigest, SnapshotError>>(.failure(.cancelled))
        let check = Mutex<Result<Void, SnapshotError>>(.failure(.cancelled))
    }

    /// Starts to read.
    ///
    /// - Parameters:
    ///   - copy: No longer changes.
    ///   - store: The file that errors are about.
    ///   - watch: Of the work that this is a part of: it stops with it.
    init(of copy: FilePath, store: FilePath, watch whole: ConnectionWatch) {
        let interruption = Interruption(within: whole.interruption)
        self.interruption = interruption
        DispatchQueue(label: "ship-store digest").async(group: reading) { [findings] in
            let found = Result { () throws(FileError) in
                try ContentDigest(ofFile: copy) { interruption.isCancelled }
            }.mapError { interruption.isCancelled ? SnapshotError.cancelled : .file($0) }
            findings.digest.withLock { $0 = found }
        }
        DispatchQueue(label: "ship-store check").async(group: reading) { [findings] in
            let watch = ConnectionWatch(interruption: interruption, busyTimeout: whole.busyTimeout)
            let found = Result { () throws(SnapshotError) in
                try CopyContent.check(copy, store: store, watch: watch)
            }
            findings.check.withLock { $0 = found }
        }
    }

    deinit {
        interruption.cancel()
        reading.wait()
    }

    /// Waits until all is read.
    ///
    /// - Parameter takesDamaged: Whether a copy may fail SQLite's check.
    /// - Returns: SHA-256 of the copy, and the first complaint of that check.
    /// - Throws: `.corrupt`, `.cancelled`, `.file`, and what else `CopyContent.check` throws.
    func finish(takingDamaged takesDamaged: Bool) throws(SnapshotError) -> (sha256: ContentDigest, damage: ForeignText?)
    {
        reading.wait()
        var damage: ForeignText?
        do throws(SnapshotError) {
            try findings.check.withLock { $0 }.get()
        } catch {
            guard takesDamaged, case .corrupt(_, let complaints) = error else { throw error }
            damage = complaints.first ?? "SQLite cannot read it"
        }
        return (try findings.digest.withLock { $0 }.get(), damage)
    }
}
