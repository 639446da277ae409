import Dispatch
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage

/// What is found out about a copy from its bytes alone: its SHA-256, and whether SQLite's own check passes. Each is read in a thread of
/// its own, side by side with what else there is to do with the copy.
///
/// Whoever makes one calls `finish` or `end`: until then the file is read.
final class CopyProof: Sendable {
    private let interruption: Interruption
    private let reading = DispatchGroup()
    private let digest = Mutex<Result<ContentDigest, SnapshotError>>(.failure(.cancelled))
    private let check = Mutex<Result<Void, SnapshotError>>(.failure(.cancelled))

    /// Starts to read.
    ///
    /// - Parameters:
    ///   - copy: No longer changes.
    ///   - store: The file that errors are about.
    ///   - watch: Of the work that this is a part of: it stops with it.
    init(of copy: FilePath, store: FilePath, watch whole: ConnectionWatch) {
        let interruption = Interruption(within: whole.interruption)
        self.interruption = interruption
        DispatchQueue(label: "ship-store digest").async(group: reading) {
            let found: Result<ContentDigest, SnapshotError>
            do throws(FileError) {
                found = .success(try ContentDigest(ofFile: copy) { interruption.isCancelled })
            } catch {
                found = .failure(interruption.isCancelled ? .cancelled : .file(error))
            }
            self.digest.withLock { $0 = found }
        }
        DispatchQueue(label: "ship-store check").async(group: reading) {
            let watch = ConnectionWatch(interruption: interruption, busyTimeout: whole.busyTimeout)
            let found: Result<Void, SnapshotError>
            do throws(SnapshotError) {
                found = .success(try CopyContent.quickCheck(copy, store: store, watch: watch))
            } catch {
                found = .failure(error)
            }
            self.check.withLock { $0 = found }
        }
    }

    /// Stops. Nothing reads the copy when this returns.
    func end() {
        interruption.cancel()
        reading.wait()
    }

    /// Waits until all is read.
    ///
    /// - Returns: SHA-256 of the copy.
    /// - Throws: `.corrupt`, `.cancelled`, `.file`, and what else `CopyContent.quickCheck` throws.
    func finish() throws(SnapshotError) -> ContentDigest {
        reading.wait()
        try check.withLock { $0 }.get()
        return try digest.withLock { $0 }.get()
    }
}
