import EssentialFoundation
package import ShipProtocol
import StoreFiles
package import StoreInbox
import Synchronization
import SystemPackage

/// Notes of the last failures, as well as they can be made: that one cannot be made is no reason to fail.
extension Installer {
    /// - Parameters:
    ///   - code: The kind, in one word.
    ///   - error: What happened.
    ///   - hint: What to do next.
    package func noteFailure(of name: StoreName, _ code: String, _ error: PrintableText, hint: PrintableText?) {
        failureNotes.withLock { _ in
            folder.write(folder.failureRecord.adding(name, code, error, hint: hint, at: Timestamp(Date())))
        }
    }

    package func noteSuccess(of name: StoreName) { failureNotes.withLock { _ in _ = folder.removeFailure(of: name) } }
}

extension InboxFolder {
    /// - Returns: Whether there was one.
    package func removeFailure(of name: StoreName) -> Bool {
        let (record, rest) = (failureRecord, failureRecord.removing(name))
        guard rest != record else { return false }
        write(rest)
        return true
    }

    /// Durably: aside, synced, renamed, and its folder synced.
    fileprivate func write(_ record: FailureRecord) {
        let path = layout.failureRecord
        let aside = layout.failureAside
        do throws(FileError) {
            if record == .empty {
                try files.removeFile(path)
            } else {
                // Another receiver that died has left it.
                if try files.holds(aside) { try files.removeFile(aside) }
                let file = try files.makeFile(at: aside)
                try file.write(record.jsonBytes)
                try file.sync()
                try files.rename(aside, to: path)
            }
            try files.sync(layout.depot)
        } catch {
            try? files.removeFile(aside)
        }
    }
}
