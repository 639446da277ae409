package import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

extension Installer {
    /// Notes since when, by `PlatformCalls.timeSinceStart`, a generation may lack commits of its source. Where that cannot be noted, it seems
    /// older than it is.
    package func note(asOf time: Duration, _ generation: GenerationName, of name: StoreName) {
        let now = AgeRecord.Clocks.now
        // Another session may have brought another one since, or may have asked later.
        guard (try? folder.currentName(of: name)) == generation else { return }
        if let known = folder.ageRecord(of: name)?.age(of: generation, at: now), known <= now.sinceStart - time {
            return
        }
        let record = AgeRecord(of: generation, asOf: now.back(to: time))
        replace(folder.layout.ageRecord(name), with: record.jsonBytes, .asOf, of: name)
    }

    /// Puts a note of a store in the place of the one before, in one step. A note that cannot be written is none, and neither is one that a power
    /// cut takes: nothing depends on it.
    ///
    /// - Parameter purpose: Of the file that is made aside, under a name that no other has.
    func replace(_ note: FilePath, with bytes: [UInt8], _ purpose: StoreLock.Purpose, of name: StoreName) {
        let aside = StoreLock.aside(purpose, of: name, in: folder.layout)
        // Held open: where the store is removed meanwhile, the note goes with it, and no folder comes back.
        guard let store = try? folder.files.folder(at: folder.layout.store(name)) else { return }
        try? store.makeFolder(at: folder.layout.staging(name))
        try? store.replace(note, with: bytes, aside: aside, durably: false)
    }
}
