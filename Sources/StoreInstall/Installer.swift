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
    private let retention: Retention
    /// Bytes that stay free on the disk.
    private let reserve: Int64
    private let space: SpaceLedger
    private let replacements: Replacements
    private let emptied: Succession.Emptied
    private let late: LatePruning

    package var inbox: Inbox { folder.inbox }

    /// Makes the inbox if it is not there, takes its lock, and sweeps it.
    ///
    /// - Parameters:
    ///   - reserve: Bytes that an installation leaves free on the disk: for the file system's own bookkeeping, and
    ///   for others.
    ///   - replacements: Where a shipment may bring another store than the one that is held.
    ///   - emptied: What becomes of a store without a row in place of one with rows.
    ///   - space: What the room for shipments is promised in.
    /// - Throws: `.ofOtherUser`, `.openToOthers`, `.inboxInUse`, `.storeBusy`, `.file`.
    package init(
        inbox: Inbox, keeping retention: Retention, leavingFree reserve: Int64 = 1_000_000,
        replacing replacements: Replacements = Replacements(), emptied: Succession.Emptied = .refused,
        in space: SpaceLedger = .ofProcess, _ resolution: OpenFolder.Resolution = .kernel
    ) throws(InboxError) {
        self.retention = retention
        self.replacements = replacements
        self.emptied = emptied
        self.reserve = reserve
        self.space = space
        try InboxError.wrapping { () throws(FileError) in try Folder.make(inbox.root.isEmpty ? "." : inbox.root) }
        let folder = try InboxFolder(inbox, resolution)
        try InboxError.wrapping { () throws(FileError) in try folder.files.makeFolder(at: inbox.layout.depot) }
        try folder.checkIsOurs()
        lock = try InboxLock(folder)
        try InboxError.wrapping { () throws(FileError) in try Self.makeDurable(folder) }
        late = LatePruning(folder, retention)
        self.folder = folder
        try InboxSweep(folder: folder, retention: retention).run(late)
    }

    /// The folders may be there because a receiver made them that was killed before it could sync them: no receipt may
    /// stand on such a folder.
    private static func makeDurable(_ folder: InboxFolder) throws(FileError) {
        let layout = folder.layout
        let parent = layout.root.removingLastComponent()
        do throws(FileError) {
            try Folder.sync(parent.isEmpty ? "." : parent)
        } catch {
            // A folder that may be entered and not read cannot be synced; the inbox was not made by us then.
            guard error.operation == .open, error.errno == .permissionDenied else { throw error }
        }
        try folder.files.sync(layout.root)
        try folder.files.sync(layout.depot)
    }

    /// What is to be done with a shipment that is offered.
    package enum Plan: Hashable, Sendable {
        /// The current generation is this very shipment, and safe on the medium.
        case unchanged(Generation)
        /// These parts are here already: their indexes, and where.
        case stage(present: [Int: FilePath])
    }

    /// Runs `body`, which plans and stages, while nobody else changes the store's generations.
    ///
    /// - Throws: `.storeBusy`, `.file`, and what `body` throws.
    package func undisturbed<Result>(_ name: StoreName, _ body: () throws -> Result) throws -> Result {
        let custody = try custody(of: name)
        do {
            return try withExtendedLifetime(custody) { _ in try body() }
        } catch {
            custody.removeFolderIfUnused()
            throw error
        }
    }

    /// The right to a store's generations, of which there may be none yet: its folder is made if it is not there.
    private func custody(of name: StoreName) throws(InboxError) -> StoreCustody {
        while true {
            try InboxError.wrapping { () throws(FileError) in
                // `stage` makes it durable.
                try folder.files.makeFolder(at: inbox.layout.store(name), .forNow)
            }
            do throws(InboxError) {
                return try StoreCustody(of: name, in: folder)
            } catch {
                // The end of a shipment of which nothing is left takes an unused folder away.
                guard case .noSuchStore = error, !Task.isCancelled else { throw error }
            }
        }
    }

    /// - Throws: `.occupied`, `.outOfSequence`, `.otherStore`, `.rolledBack`, `.badRecord`, `.badOrigin`, `.file`.
    package func plan(for manifest: Manifest, from sender: Sender = .carrier) throws(InboxError) -> Plan {
        try PublicLinks(folder: folder).check(for: manifest)
        // A current generation that cannot be read is no reason to refuse a new one.
        guard let current = try? folder.current(of: manifest.name) else {
            _ = try admit(manifest, from: sender)
            try checkRecord(for: manifest, current: nil)
            return .stage(present: [:])
        }
        let isTheirs = try isKnown(current, to: sender)
        let isSame = isTheirs && isSame(current, manifest)
        _ = try admit(manifest, from: sender, isCurrent: isSame)
        if isSame {
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

    /// What an operator went back from does not come in again by itself, unless it is current: then the entry says nothing.
    private func checkRecord(for manifest: Manifest, current: Generation?) throws(InboxError) {
        let digest = manifest.store.sha256
        let record = try folder.rollbackRecord(of: manifest.name)
        guard let entry = record.entry(of: digest), current?.manifest.store.sha256 != digest else { return }
        throw .rolledBack(manifest.name, number: entry.generation)
    }

    /// Under the name of a store comes that store, unless the operator has said otherwise.
    private func checkSuccession(_ manifest: Manifest, to current: Generation?) throws(InboxError) {
        guard let current, !replacements.allow(manifest.name) else { return }
        do throws(Succession.Flaw) {
            try Succession.check(manifest, follows: current.manifest, emptied)
        } catch {
            throw .otherStore(manifest.name, error)
        }
    }

    /// Whether a sender may learn what is in a generation, by whether it has to send it: a device that has taken a store over finds
    /// nothing from before.
    private func isKnown(_ generation: Generation, to sender: Sender) throws(InboxError) -> Bool {
        guard case .device(let id, _) = sender else { return true }
        return try Origin.read(ofGenerationAt: generation.path, in: folder.files)?.producer == id
    }

    private func isSame(_ generation: Generation, _ manifest: Manifest) -> Bool {
        generation.manifest.hasSameContent(as: manifest) && isWhole(generation)
    }

    /// - Returns: What is known of where the shipment is from.
    /// - Throws: `.outOfSequence` if it does not follow on those before it, `.badOrigin`, `.file`.
    private func admit(
        _ manifest: Manifest, from sender: Sender, isCurrent: Bool = false
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
    /// - Parameter permitting: Called before anything changes, while nobody else changes the store's generations.
    /// - Throws: `.storeBusy` if it is current no more, and what `permitting` throws.
    package func confirm(
        _ generation: Generation, as manifest: Manifest, from sender: Sender, permitting: () throws -> Void
    ) throws {
        // Somebody may have removed the store since.
        guard isCurrent(generation) else { throw InboxError.storeBusy(manifest.name, waited: .zero) }
        let custody = try StoreCustody(of: manifest.name, in: folder)
        guard isCurrent(generation) else { throw InboxError.storeBusy(manifest.name, waited: .zero) }
        let origin = try admit(manifest, from: sender, isCurrent: true)
        try permitting()
        guard let origin else { return }
        let known = try folder.originRecord(of: manifest.name)
        guard let producer = origin.producer ?? known?.producer else { return }
        // After a step back the record knows of later generations, and goes on to.
        let number = max(generation.number, known?.generation ?? 0)
        custody.removeLitter()
        try custody.keep(OriginRecord(producer: producer, highest: origin.counter, generation: number))
    }

    /// Whether a generation that was current when its shipment was offered still is.
    package func isCurrent(_ generation: Generation) -> Bool {
        folder.currentName(of: generation.manifest.name)?.number == generation.number
    }

    /// Whether a shipment goes on where an earlier session left it, and may itself be gone on with.
    package enum Continuity: Hashable, Sendable { case goesOn, standsAlone }

    /// Makes the staging of a shipment, or goes on with one that waits.
    ///
    /// - Throws: `.noSpace`, `.file`.
    package func stage(
        _ manifest: Manifest, from sender: Sender = .carrier, present: [Int: FilePath],
        _ continuity: Continuity = .standsAlone
    ) throws(InboxError) -> StagedGeneration {
        let isCurrent = (try? folder.current(of: manifest.name)).flatMap(\.self).map { isSame($0, manifest) } ?? false
        let origin = try admit(manifest, from: sender, isCurrent: isCurrent)
        let (name, layout) = (manifest.name, inbox.layout)
        let staging = layout.staging(name)
        try InboxError.wrapping { () throws(FileError) in
            try folder.files.makeFolder(at: staging, .forNow)
            guard !folder.files.holds(layout.generations(name)) else { return }
            try folder.files.makeFolder(at: layout.generations(name), .forNow)
            do throws(FileError) {
                // Once for both: each costs a commit of the file system.
                try folder.files.sync(layout.store(name))
                try folder.files.sync(layout.depot)
            } catch {
                // Who finds it takes it for durable.
                try? folder.files.removeEmptyFolder(at: layout.generations(name))
                throw error
            }
        }
        let (waiting, use) = try take(manifest, from: sender, having: Set(present.keys), continuity)
        let coming = manifest.parts.enumerated().filter {
            present[$0.offset] == nil && !use.whole.contains($0.offset)
        }
        let toCome = coming.reduce(Int64(0)) { sum, part in
            let (total, overflow) = sum.addingReportingOverflow(part.element.size)
            return overflow ? .max : total
        }
        let space: SpaceLedger.Promise
        do throws(SpaceLedger.Refusal) {
            space = try self.space.promise(toCome, leaving: reserve, in: folder.files)
        } catch {
            throw InboxError(error)
        }
        if let waiting {
            return try StagedGeneration(
                manifest, from: sender, origin, goingOnWith: waiting, use, of: folder, present: present, space)
        }
        return try StagedGeneration(
            manifest, from: sender, origin, in: staging, of: folder, present: present, space,
            mayWait: continuity == .goesOn)
    }

    /// What waits, as far as it is of use; the rest of it is gone. What of it cannot be read is of no use.
    ///
    /// - Throws: `.file` once the task is cancelled.
    private func take(
        _ manifest: Manifest, from sender: Sender, having present: Set<Int>, _ continuity: Continuity
    ) throws(InboxError) -> (WaitingShipment?, WaitingShipment.Use) {
        guard continuity == .goesOn, let found = waiting.take(manifest.name, from: sender.device) else {
            return (nil, WaitingShipment.Use())
        }
        do throws(InboxError) {
            let use = try found.use(for: manifest, having: present)
            guard !use.isNone else { return (nil, use) }
            // Before room is asked for: what goes makes some.
            try found.clear(for: manifest, but: use)
            return (found, use)
        } catch {
            if error.isCancellation { throw error }
            return (nil, WaitingShipment.Use())
        }
    }

    /// What waits in the inbox.
    package var waiting: WaitingShipments { WaitingShipments(in: folder) }

    /// What was current until a moment ago, of any store, takes room that a shipment may need: waits until it may go, which is
    /// two seconds at most, and removes it. What suspended readers have let go of goes at once. Nobody may have the right to a
    /// store meanwhile who waits for this.
    ///
    /// - Returns: Whether there was anything of the kind.
    package func reclaimSpace() throws(InboxError) -> Bool { try late.finish() }

    /// Makes what has been sealed current, lets `open` try it, and prunes.
    ///
    /// - Parameters:
    ///   - permitting: Called last of all before anything changes, while nobody else changes the store's generations; what it
    ///     throws ends the installation.
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
        let custody = try StoreCustody(of: name, in: folder)
        let before = custody.currentName
        // The operator may have gone back since the shipment was offered.
        let current = (try? folder.current(of: name)).flatMap(\.self)
        try checkRecord(for: manifest, current: current)
        try checkSuccession(manifest, to: current)
        _ = try admit(manifest, from: sealed.sender)
        try permitting()
        try custody.settle()
        try custody.keepOrigin()
        let known = [try custody.record().highest, try folder.originRecord(of: name)?.generation ?? 0]
        let numbers = try folder.generationNames(of: name).map(\.number) + known
        let number = numbers.reduce(before?.number ?? 0, max) + 1
        let generationName = GenerationName(number: number, digest: manifest.store.sha256)
        let path = layout.generations(name).appending(generationName.text)
        do {
            try sealed.move(to: path)
            try folder.files.sync(layout.generations(name))
            let links = PublicLinks(folder: folder)
            // Before the switch, so that whoever finds the new store finds its external files too.
            if before != nil { try links.make(for: manifest) } else { try links.check(for: manifest) }
            try custody.switchCurrent(to: generationName)
            let generation = Generation(number: number, path: path, manifest: manifest)
            try await open(generation)
            // Of a first one after all else: the public name never leads to nothing, nor to what does not open.
            if before == nil { try links.make(for: manifest) }
            replacements.use(name)
            waiting.remove(of: name, .goes)
            // What is current says it as well, for as long as it is.
            try? custody.keepOrigin()
            // Old generations that cannot be removed now are tried again at the next installation.
            late.schedule(name, in: (try? custody.prune(retention))?.nextLook)
            return generation
        } catch {
            try? goBack(to: before, from: generationName, custody)
            throw (error as? FileError).map(InboxError.file) ?? error
        }
    }

    private func goBack(
        to before: GenerationName?, from failed: GenerationName, _ custody: borrowing StoreCustody
    ) throws {
        if before == nil { try PublicLinks(folder: folder).remove(of: custody.name) }
        if custody.currentName == failed {
            if let before {
                try custody.switchCurrent(to: before)
            } else {
                try folder.files.removeFile(inbox.layout.current(custody.name))
                try folder.files.sync(inbox.layout.store(custody.name))
            }
        }
        try custody.remove(failed)
        custody.removeFolderIfUnused()
    }

    /// The files are there in their sizes; their bytes were compared when they were installed, and never change.
    private func isWhole(_ generation: Generation) -> Bool {
        generation.manifest.parts.enumerated().allSatisfy { index, part in
            isThere(generation.path(ofPart: index), part)
        }
    }

    private func isThere(_ path: FilePath, _ part: Manifest.Part) -> Bool {
        guard let status = try? folder.files.status(of: path) else { return false }
        return status.kind == .file && status.size == part.size
    }

    /// A receiver that was killed between a rename and the sync after it leaves a generation that a power cut could
    /// still take.
    private func makeDurable(_ generation: Generation) throws(InboxError) {
        let name = generation.manifest.name
        try InboxError.wrapping { () throws(FileError) in
            try folder.files.sync(inbox.layout.generations(name))
            try folder.files.sync(inbox.layout.store(name))
        }
        try PublicLinks(folder: folder).make(for: generation.manifest)
    }
}

/// The stores in whose place the operator lets another one come: each for one shipment.
package final class Replacements: Sendable {
    private let names: Mutex<Set<StoreName>>

    package init(of names: Set<StoreName> = []) {
        self.names = Mutex(names)
    }

    func allow(_ name: StoreName) -> Bool { names.withLock { $0.contains(name) } }

    /// A shipment has been installed, and was the one.
    func use(_ name: StoreName) { names.withLock { _ = $0.remove(name) } }
}
