import DeviceTrust
import EssentialFoundation
package import ShipProtocol
import StoreFiles
import StoreFormat
package import StoreInbox
import StoreInstall

/// How it goes with a store of an inbox: what its operator asks each day. To tell it only reads, and takes no lock for which others would have to
/// wait.
package struct StoreStatus: Sendable {
    package let name: StoreName
    /// The current generation; `nil` where nothing is yet, or where it cannot be read. Whether a reader holds it is not asked.
    package let current: Inbox.Entry?
    /// Why what is current cannot be read.
    package let problem: InboxError?
    /// The shipments that are coming in, or have broken off and wait for the rest.
    package let unfinished: [Inbox.Waiting]
    /// Since when its publisher has halted it; `nil` if it has not.
    package let halted: Timestamp?
    /// Why the last shipment failed; `nil` if it succeeded.
    package let failure: FailureRecord.Failure?

    package enum State: String, Sendable {
        /// A shipment failed, and none has succeeded since; or what is current cannot be read.
        case failing
        /// The operator has gone back, and no shipment comes in.
        case held
        /// Nothing has become current yet.
        case empty
        case ok
    }

    package var state: State {
        if failure != nil || problem != nil { return .failing }
        guard let current else { return .empty }
        return current.onHoldSince == nil ? .ok : .held
    }
}

extension Inbox {
    /// Of each store that has a folder, or whose first shipment failed; sorted by name.
    ///
    /// - Throws: If there is no inbox, or it cannot be read at all.
    package func status() throws(ShipmentError) -> [StoreStatus] {
        try ShipmentError.wrapping {
            let folder = try open()
            let failures = folder.failureRecord.failures
            return Set(try folder.storeNames() + failures.map(\.name)).sorted().map { name in
                var (current, problem): (Entry?, InboxError?)
                do throws(InboxError) { current = try currentEntry(of: name, in: folder) } catch { problem = error }
                return StoreStatus(
                    name: name, current: current, problem: problem,
                    unfinished: folder.waitingShipments(of: name).map(Waiting.init),
                    halted: folder.haltRecord(of: name)?.since,
                    failure: failures.first { $0.name == name })
            }
        }
    }

    /// To tell it costs little: all of a store is read by `verify`.
    private func checkBeginning(of generation: Generation, in folder: InboxFolder) throws(InboxError) {
        guard generation.manifest.store.size > 0 else { return }
        let bytes = try InboxError.wrapping { () throws(FileError) in
            try folder.files.file(at: generation.storePath).read(DatabaseHeader.size, at: 0)
        }
        guard (try? DatabaseHeader(decoding: bytes)) != nil else { throw .mismatch(generation.storePath) }
    }

    /// What is current of a store, with all that is to be there of it; `nil` if nothing has been installed yet.
    func currentEntry(of name: StoreName, in folder: InboxFolder) throws(InboxError) -> Entry? {
        while let generation = try folder.shownCurrent(of: name) {
            do throws(InboxError) {
                // Without them no shipment comes in.
                let record = try folder.rollbackRecord(of: name)
                _ = try folder.originRecord(of: name)
                try folder.checkFiles(of: generation)
                try checkBeginning(of: generation, in: folder)
                try folder.checkLinks(for: generation.manifest, areMade: try folder.hasBeenShown(name))
                return entry(generation, name, isCurrent: true, record, nil, in: folder, isHeld: nil)
            } catch {
                guard try folder.currentName(of: name) != generation.folderName else { throw error.asOfInbox }
            }
        }
        return nil
    }
}
