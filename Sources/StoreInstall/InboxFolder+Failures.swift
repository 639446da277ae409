import EssentialFoundation
package import ShipProtocol
import StoreFiles
package import StoreInbox
import Synchronization
import SystemPackage

/// Notes of the last failures, as well as they can be made: that one cannot be made is no reason to fail.
extension Installer {
    /// - Parameter code: The kind, in one word.
    package func noteFailure(of name: StoreName, _ code: String, _ error: PrintableText, hint: PrintableText?) {
        failureNotes.withLock { _ in
            _ = folder.changeFailures { $0.adding(name, code, error, hint: hint, at: Timestamp(Date())) }
        }
    }

    package func noteSuccess(of name: StoreName) { failureNotes.withLock { _ in _ = folder.removeFailure(of: name) } }
}

extension InboxFolder {
    /// - Returns: Whether there was one.
    package func removeFailure(of name: StoreName) -> Bool { changeFailures { $0.removing(name) } }

    /// Another process that changes them is waited for, for a second at most.
    ///
    /// - Returns: Whether anything changes.
    fileprivate func changeFailures(_ change: (FailureRecord) -> FailureRecord) -> Bool {
        let known = failureRecord
        // Most often there is nothing to change.
        guard change(known) != known else { return false }
        let lock = lockFailures()
        let before = failureRecord
        let after = change(before)
        if after != before { write(after) }
        _ = consume lock
        return after != before
    }

    private func lockFailures() -> FolderLock? {
        let end = ContinuousClock.now + .seconds(1)
        do throws(FileError) {
            while .now < end {
                if let lock = try FolderLock.takeSoon(.exclusive, on: layout.depot, in: files) { return lock }
            }
        } catch {
            // A note is made all the same.
        }
        return nil
    }

    /// Durably: aside, synced, renamed, and its folder synced.
    private func write(_ record: FailureRecord) {
        let path = layout.failureRecord
        let aside = layout.failureAside
        do throws(FileError) {
            if record == .empty {
                try files.removeFile(path)
            } else {
                // Another receiver that died has left it.
                if try files.holds(aside) { try files.removeFile(aside) }
                try files.replace(path, with: record.jsonBytes, aside: aside)
            }
            try files.sync(layout.depot)
        } catch {
            // What is not noted is told all the same.
        }
    }
}
