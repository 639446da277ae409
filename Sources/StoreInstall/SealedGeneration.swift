package import ShipProtocol
import StoreFiles
import StoreInbox
package import SystemPackage

/// A shipment that is complete, synced, and as its manifest says: it can be installed, once.
package struct SealedGeneration: ~Copyable {
    private let staged: StagedGeneration

    init(_ staged: StagedGeneration) { self.staged = staged }

    package var manifest: Manifest { staged.manifest }
    var sender: Sender { staged.sender }

    /// Where its store is, for what opens it in this process: see `StagedGeneration`.
    package var storePathByDescriptor: FilePath { staged.storePathByDescriptor }

    /// Moves the folder to its final place, in one step. From here on it is no longer ours to remove.
    ///
    /// - Throws: `.noSuchFileOrDirectory` also if something else had taken its name, and now stands there.
    consuming func move(to target: FilePath) throws(FileError) { try staged.move(to: target) }
}
