import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

extension Generation {
    /// Reads the manifest of a generation that is in an inbox under a name.
    ///
    /// - Throws: `.badManifest` also for one that is of another store, or of another copy than the folder's name says.
    init(_ generation: GenerationName, of name: StoreName, in inbox: Inbox) throws(InboxError) {
        let folder = inbox.layout.generations(name).appending(generation.text)
        let read = try Generation(at: folder)
        let manifest = read.manifest
        guard manifest.name == name,
            GenerationName(number: generation.number, digest: manifest.store.sha256) == generation
        else {
            throw .badManifest(folder.appending(InboxLayout.manifestFile), flaw: "it is of another generation")
        }
        self = read
    }
}
