package import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

/// The records that stand beside a store's generations: of an operator's rollbacks, and of where its shipments are from.
extension StoreLock {
    /// - Throws: `.badRecord`, `.file`.
    borrowing func record() throws(InboxError) -> RollbackRecord {
        try folder.rollbackRecord(of: name)
    }

    /// Writes the record durably: aside, synced, renamed, and its folder synced.
    borrowing func write(_ record: RollbackRecord) throws(InboxError) {
        guard (try? self.record()) != record else { return try sync() }
        try write(record, aside(.rollback), to: layout.rollbackRecord(name))
    }

    /// - Parameter aside: Where it is made.
    borrowing func write(_ record: some Encodable, _ aside: FilePath, to path: FilePath) throws(InboxError) {
        try InboxError.wrapping { () throws(FileError) in
            try folder.files.makeFolder(at: layout.staging(name))
            try folder.files.replace(path, with: record.jsonBytes, aside: aside)
            try folder.files.sync(layout.store(name))
        }
    }

    /// Notes that a generation was current until now. Where that cannot be noted it may go at once.
    borrowing func noteLeft(_ generation: GenerationName) {
        let record = folder.leftRecord(of: name).leaving(generation, grace: Retention.standardGrace)
        let path = layout.leftRecord(name)
        try? folder.files.replace(path, with: record.jsonBytes, aside: aside(.left), durably: false)
    }

    /// Drops the entry for the current generation, and a hold against it: the switch away from it never came, or an operator has come back to it. This
    /// happens before another generation becomes current, as the entry would count from then on.
    borrowing func settle() throws(InboxError) {
        let record = try record()
        guard !record.refused.isEmpty || record.hold != nil, let current = try? folder.current(of: name) else { return }
        try write(record.settled(at: current))
    }

    /// Keeps what is known of where the store's shipments are from, before `current` leads elsewhere, or once it does.
    borrowing func keepOrigin() throws(InboxError) {
        if let record = try folder.originRecord(of: name) { try keep(record) }
    }

    /// Keeps it durably.
    borrowing func keep(_ record: OriginRecord) throws(InboxError) {
        guard (try? OriginRecord.read(at: layout.originRecord(name), in: folder.files)) != record else { return }
        try write(record, aside(.origin), to: layout.originRecord(name))
    }
}

/// A generation that a sender was told of in a file stays until the time that the file says.
extension StoreLock {
    /// Leases what is current, if it came from a device or was adopted, in place of what was leased before.
    ///
    /// - Parameter producer: `nil` for senders whose device is not known.
    /// - Returns: What is current; `nil` if it is not for that device to know, or cannot be read: then nothing changes.
    /// - Throws: `.file`.
    package borrowing func leaseCurrent(
        from producer: ContentDigest?, until time: Timestamp
    ) throws(InboxError) -> Generation? {
        guard let current = try currentName, let generation = try? folder.generation(current, of: name),
            (try? Origin.mayBeKnown(ofGenerationAt: generation.path, in: folder.files, to: producer)) == true,
            let status = try? folder.files.status(of: generation.storePath), status.kind == .file,
            status.size == generation.manifest.store.size
        else { return nil }
        removeLitter()
        // A file that was written before may promise more.
        let earlier = folder.leaseRecord(of: name).flatMap { $0.keeps(current) ? $0.until : nil }
        let record = LeaseRecord(of: current, until: max(earlier ?? time, time))
        try write(record, aside(.leased), to: layout.leaseRecord(name))
        return generation
    }
}

/// An operator's rollback, or step forward.
extension StoreLock {
    /// A step from what is current, whether that can be read or not.
    package struct Step: Hashable, Sendable {
        /// The number of the current generation; `nil` where it is not known any more.
        package let from: Int?
        /// The SHA-256 of its store; `nil` if its manifest cannot be read.
        fileprivate let store: ContentDigest?
        package let to: Generation
    }

    /// Where a step would lead from and to.
    ///
    /// - Parameter number: Of a generation that is kept and was current once, older or newer; `nil` for the newest older one that was not
    ///   rolled back.
    /// - Throws: `.noSuchStore`, `.noOlderGeneration`, `.noSuchGeneration`, `.badManifest`, `.badRecord`, `.file`.
    package borrowing func step(to number: Int?) throws(InboxError) -> Step {
        let names = try folder.generationNames(of: name)
        let from = try currentName?.number
        // What no link says to be current may never have been.
        if from == nil {
            guard !names.isEmpty, try !folder.awaitsFirst(name) else { throw folder.noSuchStore(name) }
        }
        let store = (try? folder.current(of: name)).flatMap(\.self)?.manifest.store.sha256
        let record = try record()
        if let number {
            guard number <= max(from ?? names.last?.number ?? 0, record.highest),
                let found = names.last(where: { $0.number == number })
            else { throw .noSuchGeneration(name, number: number) }
            return Step(from: from, store: store, to: try generation(found))
        }
        for name in names.reversed() where from.map({ name.number < $0 }) ?? true {
            // One that cannot be read is nothing to go back to.
            guard let older = try? generation(name) else { continue }
            if record.entry(of: older.manifest.store.sha256) == nil { return Step(from: from, store: store, to: older) }
        }
        throw .noOlderGeneration(name)
    }

    private borrowing func generation(_ name: GenerationName) throws(InboxError) -> Generation {
        try folder.generation(name, of: self.name)
    }

    /// Makes another generation current. Who goes back records first from what, so that there is no moment at which the
    /// old generation is current and a shipment welcome; who goes forward to a generation makes it welcome again. The store is held until
    /// the operator releases it, or goes forward to the newest generation from which the operator went back.
    package borrowing func take(_ step: Step, at time: Timestamp) throws(InboxError) {
        let target = step.to.folderName
        removeLitter()
        if step.to.number != step.from { try settle() }
        try keepOrigin()
        if let from = step.from, step.to.number < from {
            try write(try record().adding(from, step.store, at: time))
        }
        try folder.makeLinks(for: step.to.manifest)
        if step.to.number == step.from {
            try sync()
        } else {
            try InboxError.wrapping { () throws(FileError) in
                try folder.files.makeFolder(at: layout.staging(name))
                try switchCurrent(to: target)
            }
        }
        // It is done: the entry of what is current does not count, and the next change drops it.
        try? settle()
    }

    /// Ends the hold: other states of the store come in, and what was rolled back stays out.
    ///
    /// - Returns: Whether the store was held.
    /// - Throws: `.badRecord`, `.file`.
    package borrowing func release() throws(InboxError) -> Bool {
        removeLitter()
        try settle()
        let record = try record()
        try write(record.released)
        return record.hold != nil
    }

    /// Whether the store is held.
    ///
    /// - Throws: `.badRecord`, `.file`.
    package var isOnHold: Bool {
        borrowing get throws(InboxError) { try record().hold(at: try currentName?.number) != nil }
    }

    /// Whatever was rolled back may come in again, and the store is not held any more.
    ///
    /// - Returns: How many entries there were; `nil` if they could not be read.
    package borrowing func allowEverything() throws(InboxError) -> Int? {
        removeLitter()
        let record = try? record()
        let numbers = try folder.generationNames(of: name).map(\.number) + [try currentName?.number ?? 0]
        // Without a record it is unknown which generations were current once: those that are here count.
        try write(RollbackRecord(highest: record?.highest ?? numbers.reduce(0, max), refused: []))
        return record?.refused.count
    }
}
