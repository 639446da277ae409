package import ShipProtocol
package import StoreFiles
package import StoreInbox
import Synchronization
package import SystemPackage

/// The owner of an inbox: stages shipments, makes them current, prunes.
///
/// Calls for one store must come one after the other; different stores may be served side by side.
package final class Installer: Sendable {
    /// The inbox, held open: it is this folder, and no other that gets its name.
    package let folder: InboxFolder
    private let lock: InboxLock
    /// See `InboxFolder.making`.
    private let made: [FilePath]?
    private let retention: Retention
    /// Bytes that stay free on the disk.
    let reserve: Int64
    let space: SpaceLedger
    /// The stores in whose place the operator lets another one come: each for one shipment.
    private let replaceable: Mutex<Set<StoreName>>
    private let allowsEmpty: Bool
    /// Held while the record of failures changes.
    let failureNotes = Mutex(())
    private let late: DelayedPruning
    let spares: SpareFiles
    /// Of each store's current generation.
    let proofs = Mutex<[StoreName: WholenessProof]>([:])

    package var inbox: Inbox { folder.inbox }
    /// Whether the inbox has been removed since: nothing can be installed any more.
    package var isRemoved: Bool { lock.isRemoved }

    /// Makes the inbox if it is not there, takes its lock, and sweeps it.
    ///
    /// - Parameters:
    ///   - reserve: Bytes that an installation leaves free on the disk: for the file system's own bookkeeping, and
    ///   for others.
    ///   - replaceable: Where one shipment may bring another store than the one that is held.
    ///   - allowsEmpty: Whether a store without rows may replace one with rows, and without an identity.
    ///   - space: The ledger in which the space for shipments is reserved.
    /// - Throws: `.insideInbox`, `.ofOtherUser`, `.openToOthers`, `.inboxInUse`, `.storeBusy`, `.file`.
    package init(
        inbox: Inbox, keeping retention: Retention, leavingFree reserve: Int64 = 1_000_000,
        replacing replaceable: Set<StoreName> = [], allowingEmpty allowsEmpty: Bool = false,
        in space: SpaceLedger = .ofProcess
    ) throws(InboxError) {
        self.retention = retention
        self.replaceable = Mutex(replaceable)
        self.allowsEmpty = allowsEmpty
        self.reserve = reserve
        self.space = space
        if let around = InboxLayout.inbox(around: inbox.root) { throw .insideInbox(inbox.root, inbox: around) }
        let (folder, made) = try InboxFolder.making(inbox)
        try folder.checkIsOurs()
        lock = try InboxLock(folder)
        try folder.prepare(orRemove: made)
        self.made = made
        spares = SpareFiles(folder)
        late = DelayedPruning(folder, retention, keeping: spares)
        self.folder = folder
        try late.sweep()
    }

    /// Takes away the inbox if this one has made it and nothing is in it: to others it may be a folder that they use otherwise.
    package func removeIfUnused() { if let made { folder.removeUnused(with: made) } }

    /// Lets one shipment bring another store under a name, or none.
    ///
    /// - Returns: Whether one might before.
    @discardableResult
    package func permitReplacing(_ name: StoreName, _ isPermitted: Bool) -> Bool {
        replaceable.withLock { names in
            isPermitted ? !names.insert(name).inserted : names.remove(name) != nil
        }
    }

    /// The receiver's plan for a shipment that is offered.
    package enum Plan: Hashable, Sendable {
        /// The current generation is this very shipment, whole, and safe on the medium.
        case unchanged(Generation)
        /// These parts are here already: their indexes, and where.
        case stage(present: [Int: FilePath])
    }

    /// Runs `body`, which plans and stages, under the store's lock.
    ///
    /// - Throws: `.storeBusy`, `.file`, and what `body` throws.
    package func undisturbed<Result>(_ name: StoreName, _ body: () throws -> Result) throws -> Result {
        // `stage` makes the folder durable.
        let storeLock = try StoreLock(making: name, durably: false, in: folder)
        do {
            return try withExtendedLifetime(storeLock) { _ in try body() }
        } catch {
            storeLock.removeFolderIfUnused()
            throw error
        }
    }

    /// - Throws: `.occupied`, `.outOfSequence`, `.otherStore`, `.onHold`, `.rolledBack`, `.badRecord`, `.badOrigin`, `.file`.
    package func plan(for manifest: Manifest, from sender: Sender = .carrier) throws(InboxError) -> Plan {
        try folder.checkLinks(for: manifest)
        // A current generation that cannot be read is no reason to refuse a new one.
        guard let current = try? folder.current(of: manifest.name) else {
            _ = try admit(manifest, from: sender, isCurrent: nil)
            try checkRecord(for: manifest, current: nil)
            return .stage(present: [:])
        }
        let isTheirs = try isKnown(current, to: sender)
        let isVery = try isVery(manifest, from: sender)
        // Another device's signature and name are not those of what is there.
        let isAlike = try isMade(current, by: sender)
        let isAgain = (isTheirs || isVery) && isAlike && current.manifest.hasSameContent(as: manifest)
        _ = try admit(manifest, from: sender, isCurrent: isAgain)
        if isAgain, isWhole(current) {
            try makeDurable(current)
            return .unchanged(current)
        }
        try checkSuccession(manifest, to: current)
        try checkRecord(for: manifest, current: current)
        var held: [Manifest.Part: FilePath] = [:]
        for (index, part) in current.manifest.parts.enumerated() where isTheirs && part.size > 0 {
            held[part] = current.path(ofPart: index)
        }
        var present: [Int: FilePath] = [:]
        for (index, part) in manifest.parts.enumerated() {
            if let path = held[part], isThere(path, part) { present[index] = path }
        }
        return .stage(present: present)
    }

    /// An operator's rollback refuses every shipment until the operator releases the store, and from then on the very store that was rolled
    /// back, unless it is current: then the entry does not count.
    private func checkRecord(for manifest: Manifest, current: Generation?) throws(InboxError) {
        let digest = manifest.store.sha256
        let record = try folder.rollbackRecord(of: manifest.name)
        if let hold = record.hold(at: try folder.currentName(of: manifest.name)?.number) {
            throw .onHold(manifest.name, since: hold.at)
        }
        guard let entry = record.entry(of: digest), current?.manifest.store.sha256 != digest else { return }
        throw .rolledBack(manifest.name, number: entry.generation)
    }

    /// Under the name of a store comes that store, unless the operator has said otherwise; it may have come already.
    private func checkSuccession(
        _ manifest: Manifest, to current: Generation?, at store: FilePath? = nil
    ) throws(InboxError) {
        guard let current, !replaceable.withLock({ $0.contains(manifest.name) }) else { return }
        let readTables = store.map { store in
            {
                guard let held = try? TableDigests.names(in: current.storePath),
                    let new = try? TableDigests.names(in: store)
                else { return nil as (held: Set<String>, new: Set<String>)? }
                return (held, new)
            }
        }
        do throws(SuccessionError) {
            try manifest.checkSuccession(to: current.manifest, allowingEmpty: allowsEmpty, readTables: readTables)
        } catch {
            throw .otherStore(manifest.name, error)
        }
    }

    /// A shipment that comes one way, from a device that is not proven, has its place in an order all the same: an old shipment that
    /// arrives late would take the store back. A later number tells more than a clock that was set.
    ///
    /// - Throws: `.outOfSequence`, `.badOrigin`, `.file`.
    package func checkOrder(of manifest: Manifest) throws(InboxError) {
        let current = try? folder.current(of: manifest.name)
        // What was adopted says nothing of when it was made.
        let origin = try current.flatMap { (current) throws(InboxError) in try self.origin(of: current) }
        guard let held = current?.manifest, origin?.isAdopted != true, manifest.createdAt < held.createdAt,
            !replaceable.withLock({ $0.contains(manifest.name) })
        else { return }
        if let number = manifest.counter, let last = held.counter, number > last { return }
        throw .outOfSequence(manifest.name, .older(manifest.createdAt, than: held.createdAt))
    }

    /// - Returns: What is known of where the shipment is from.
    /// - Throws: `.outOfSequence` if it does not follow on those before it, `.badOrigin`, `.file`.
    private func admit(
        _ manifest: Manifest, from sender: Sender, isCurrent: Bool? = false
    ) throws(InboxError) -> Origin? {
        let record = try folder.originRecord(of: manifest.name)
        do throws(SequenceFlaw) {
            return try sender.admit(manifest, after: record, isCurrent: isCurrent)
        } catch {
            throw .outOfSequence(manifest.name, error)
        }
    }

    /// A shipment has come that is current already: nothing changes but how far its device has come.
    ///
    /// - Parameter permitting: Called before anything changes, under the store's lock.
    /// - Throws: `.storeBusy` if it is current no more, and what `permitting` throws.
    package func confirm(
        _ generation: Generation, as manifest: Manifest, from sender: Sender, permitting: () throws -> Void
    ) throws {
        // The store may have been removed since.
        guard isCurrent(generation) else { throw InboxError.storeBusy(manifest.name, waited: .zero) }
        let storeLock = try StoreLock(of: manifest.name, in: folder)
        guard isCurrent(generation) else { throw InboxError.storeBusy(manifest.name, waited: .zero) }
        let origin = try admit(manifest, from: sender, isCurrent: true)
        try permitting()
        guard let origin else { return }
        let known = try folder.originRecord(of: manifest.name)
        guard let producer = origin.producer ?? known?.producer else { return }
        // After a step back the record knows of later generations, and goes on to.
        let number = max(generation.number, known?.generation ?? 0)
        storeLock.removeLitter()
        try storeLock.keep(OriginRecord(producer: producer, highest: origin.counter, generation: number))
    }

    /// Whether a store may be adopted.
    ///
    /// - Parameter digest: Of the store that is to be the first generation.
    /// - Returns: The current generation, durable, if it is that very store already; `nil` if there is none.
    /// - Throws: `.hasGenerations` if another one is there, `.file`.
    package func adopted(_ digest: ContentDigest, as name: StoreName) throws(InboxError) -> Generation? {
        guard let number = try folder.currentName(of: name)?.number else { return nil }
        guard let current = try folder.readableCurrent(of: name), current.manifest.store.sha256 == digest,
            (try? folder.checkFiles(of: current)) != nil
        else { throw .hasGenerations(name, current: number) }
        try makeDurable(current)
        return current
    }

    /// Whether a generation that was current when its shipment was offered still is.
    package func isCurrent(_ generation: Generation) -> Bool {
        (try? folder.currentName(of: generation.manifest.name))?.number == generation.number
    }

    /// Makes the staging of a shipment, or goes on with one that waits.
    ///
    /// - Parameters:
    ///   - signed: The manifest as it was signed; `nil` if it is not.
    ///   - isResumable: Whether it goes on where an earlier session left it, and may itself be resumed.
    /// - Throws: `.noSpace`, `.file`.
    package func stage(
        _ manifest: Manifest, from sender: Sender = .carrier, signed: SignedManifest? = nil, present: [Int: FilePath],
        isResumable: Bool = false
    ) throws(InboxError) -> StagedGeneration {
        let current = (try? folder.current(of: manifest.name)).flatMap(\.self)
        let origin = try admit(manifest, from: sender, isCurrent: current.holdsContent(of: manifest))
        let (name, layout) = (manifest.name, inbox.layout)
        let staging = layout.staging(name)
        try InboxError.wrapping { () throws(FileError) in
            try folder.files.makeFolder(at: staging, durably: false)
            guard try !folder.files.holds(layout.generations(name)) else { return }
            try folder.files.makeFolder(at: layout.generations(name), durably: false)
            do throws(FileError) {
                // Once for both: each costs a commit of the file system.
                try folder.files.sync(layout.store(name))
                try folder.files.sync(layout.depot)
            } catch {
                // Whoever finds the generations' folder takes all three for durable; and fsync(2) tells of a lost write only
                // once. So the next shipment makes each of them anew.
                for made in [layout.generations(name), staging, layout.store(name)] {
                    try? folder.files.removeEmptyFolder(at: made)
                }
                throw error
            }
        }
        let waiting = isResumable ? try takeWaiting(manifest, from: sender, having: Set(present.keys)) : nil
        let wholeParts = waiting?.wholeParts ?? []
        let coming = manifest.parts.enumerated().filter {
            present[$0.offset] == nil && !wholeParts.contains($0.offset)
        }
        let toCome = coming.reduce(Int64(0)) { sum, part in
            let (total, overflow) = sum.addingReportingOverflow(part.element.size)
            return overflow ? .max : total
        }
        let space = try reserveRoom(for: toCome)
        return try StagedGeneration(
            manifest, from: sender, origin, signed, in: staging, goingOnWith: waiting, of: folder, spares,
            present: present, space, mayWait: isResumable)
    }

    /// Takes what waits and is of use, and removes the rest of it. What cannot be read is of no use.
    ///
    /// - Throws: `.file` once the task is cancelled.
    private func takeWaiting(
        _ manifest: Manifest, from sender: Sender, having present: Set<Int>
    ) throws(InboxError) -> WaitingShipment? {
        guard let found = folder.takeWaitingShipment(of: manifest.name, from: sender.peer) else { return nil }
        do throws(InboxError) {
            // Before room is asked for: what goes makes some.
            return try found.keepUse(for: manifest, having: present) ? found : nil
        } catch {
            if error.isCancellation { throw error }
            return nil
        }
    }

    /// Makes room for a shipment. Waits until the generations that were current a moment ago may go, two seconds at most, and
    /// removes them. Those that suspended readers have let go of go at once. The caller must not hold the lock of a store.
    ///
    /// - Returns: Whether anything was removed.
    package func reclaimSpace() throws(InboxError) -> Bool { try late.finish() }

    /// Makes what has been sealed current, lets `open` try it, and prunes.
    ///
    /// - Parameters:
    ///   - permitting: Called last before anything changes, under the store's lock; what it throws ends the installation.
    ///   - open: Opens the new current generation as a reader would; if it throws, `current` goes back to what it was, and
    ///     the new generation is removed.
    /// - Throws: `InboxError`, or what `permitting` and `open` throw.
    package func install(
        _ sealed: consuming SealedGeneration, permitting: () throws -> Void = {},
        open: (Generation) async throws -> Void
    ) async throws -> Generation {
        let manifest = sealed.manifest
        let name = manifest.name
        let layout = inbox.layout
        let storeLock = try StoreLock(of: name, in: folder)
        let before = try storeLock.currentName
        let number: Int
        do {
            if sealed.sender == .adoption, let before { throw InboxError.hasGenerations(name, current: before.number) }
            // The operator may have rolled back since the shipment was offered.
            let current = try folder.readableCurrent(of: name)
            try checkRecord(for: manifest, current: current)
            try checkSuccession(manifest, to: current, at: sealed.storePathByDescriptor)
            // What is current may come again where it was damaged, or has gone.
            _ = try admit(manifest, from: sealed.sender, isCurrent: current.holdsContent(of: manifest))
            try permitting()
            try storeLock.settle()
            try storeLock.keepOrigin()
            let known = [try storeLock.record().highest, try folder.originRecord(of: name)?.generation ?? 0]
            let numbers = try folder.generationNames(of: name).map(\.number) + known
            number = numbers.reduce(before?.number ?? 0, max) + 1
            guard number < Limits.generation else {
                throw InboxError.badRecord(layout.generations(name), flaw: "no number is left above the highest")
            }
        } catch {
            // Without another owner the staging goes now, and the store's folder with it. A session that still owns it lets it wait, or
            // removes both when it ends.
            _ = consume sealed
            storeLock.removeFolderIfUnused()
            throw error
        }
        let generationName = GenerationName(number: number, digest: manifest.store.sha256)
        let path = layout.generations(name).appending(generationName.text)
        do {
            try sealed.move(to: path)
            try folder.files.sync(layout.generations(name))
            // Before the switch: a reader that finds the new store finds its external files, too.
            if before != nil { try folder.makeLinks(for: manifest) } else { try folder.checkLinks(for: manifest) }
            try storeLock.switchCurrent(to: generationName)
            let generation = Generation(number: number, path: path, manifest: manifest)
            try await open(generation)
            // The link of a first generation comes last: the public name never leads to nothing, nor to a store that does not
            // open.
            if before == nil { try folder.makeLinks(for: manifest) }
            replaceable.withLock { _ = $0.remove(name) }
            folder.removeWaitingShipments(of: name, unreadable: true)
            // If this fails, the current generation's own `origin.json` still says it, while it is current.
            try? storeLock.keepOrigin()
            // Old generations that cannot be removed now are tried again at the next installation.
            late.schedule(name, in: (try? storeLock.prune(retention, keeping: spares))?.nextLook)
            return generation
        } catch {
            try? goBack(to: before, from: generationName, storeLock)
            throw (error as? FileError).map(InboxError.file) ?? error
        }
    }

    private func goBack(
        to before: GenerationName?, from failed: GenerationName, _ storeLock: borrowing StoreLock
    ) throws {
        if before == nil { try folder.removeLinks(of: storeLock.name) }
        if try storeLock.currentName == failed {
            if let before {
                try storeLock.switchCurrent(to: before)
            } else {
                try folder.files.removeFile(inbox.layout.current(storeLock.name))
                try folder.files.sync(inbox.layout.store(storeLock.name))
            }
        }
        try storeLock.remove(failed)
        storeLock.removeFolderIfUnused()
    }

    private func isThere(_ path: FilePath, _ part: Manifest.Part) -> Bool {
        guard let status = try? folder.files.status(of: path) else { return false }
        return status.kind == .file && status.size == part.size
    }

    /// A receiver that was killed between a rename and the sync after it leaves a generation that a power cut could still remove.
    package func makeDurable(_ generation: Generation) throws(InboxError) {
        let name = generation.manifest.name
        try InboxError.wrapping { () throws(FileError) in
            try folder.files.sync(inbox.layout.generations(name))
            try folder.files.sync(inbox.layout.store(name))
        }
        try folder.makeLinks(for: generation.manifest)
    }
}
