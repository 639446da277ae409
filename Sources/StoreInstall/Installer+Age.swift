package import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

extension Installer {
    /// Notes since when a generation may lack commits of its source. Where that cannot be noted, it seems older than it is.
    ///
    /// - Parameter time: By `PlatformCalls.timeSinceStart`.
    package func note(asOf time: Duration, _ generation: GenerationName, of name: StoreName) {
        let (layout, now) = (folder.layout, AgeRecord.Clocks.now)
        // Another session may have brought another one since, or may have asked later.
        guard (try? folder.currentName(of: name)) == generation else { return }
        if let known = folder.ageRecord(of: name)?.age(of: generation, at: now), known <= now.sinceStart - time {
            return
        }
        let record = AgeRecord(of: generation, asOf: now.back(to: time))
        let aside = StoreLock.aside(.asOf, of: name, in: layout)
        do throws(FileError) {
            try folder.files.makeFolder(at: layout.staging(name))
            try folder.files.makeFile(at: aside).write(record.jsonBytes)
            try folder.files.rename(aside, to: layout.ageRecord(name))
        } catch {
            try? folder.files.removeFile(aside)
        }
    }
}
