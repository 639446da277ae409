package import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

/// An operator's deliberate step to another generation.
extension StoreCustody {
    /// To which generation a step leads.
    package enum Target: Hashable, Sendable {
        /// The newest older one from which nobody has gone back.
        case previous
        /// Any that is kept and was current once, older or newer.
        case generation(Int)
    }

    /// Where a step would lead from and to.
    ///
    /// - Throws: `.noSuchStore`, `.noOlderGeneration`, `.noSuchGeneration`, `.badManifest`, `.badRecord`, `.file`.
    package borrowing func step(to target: Target) throws(InboxError) -> (from: Generation, to: Generation) {
        guard let currentName, let from = try folder.current(of: name) else { throw .noSuchStore(name) }
        let record = try record()
        let names = try folder.generationNames(of: name)
        switch target {
        case .generation(from.number): return (from, from)
        case .generation(let number):
            guard number <= max(currentName.number, record.highest),
                let found = names.last(where: { $0.number == number })
            else { throw .noSuchGeneration(name, number: number) }
            return (from, try generation(found))
        case .previous:
            for name in names.reversed() where name.number < from.number {
                // One that cannot be read is nothing to go back to.
                guard let older = try? generation(name) else { continue }
                if record.entry(of: older.manifest.store.sha256) == nil { return (from, older) }
            }
            throw .noOlderGeneration(name)
        }
    }

    private borrowing func generation(_ name: GenerationName) throws(InboxError) -> Generation {
        try folder.generation(name, of: self.name)
    }

    /// Makes another generation current. Who goes back records first from what, so that there is no moment at which the
    /// old generation is current and the new one welcome; who goes forward to a generation makes it welcome again.
    package borrowing func take(_ step: (from: Generation, to: Generation), at time: Timestamp) throws(InboxError) {
        let target = GenerationName(number: step.to.number, digest: step.to.manifest.store.sha256)
        removeLitter()
        try settle()
        try keepOrigin()
        if step.to.number < step.from.number { try write(try record().adding(step.from, at: time)) }
        try PublicLinks(folder: folder).make(for: step.to.manifest)
        if step.to.number != step.from.number {
            try InboxError.wrapping { () throws(FileError) in
                try folder.files.makeFolder(at: layout.staging(name))
                try switchCurrent(to: target)
            }
        }
        try settle()
    }

    /// Whatever was rolled back may come in again.
    ///
    /// - Returns: How many entries there were; `nil` if they could not be read.
    package borrowing func allowEverything() throws(InboxError) -> Int? {
        removeLitter()
        let record = try? record()
        let numbers = try folder.generationNames(of: name).map(\.number) + [currentName?.number ?? 0]
        // Without a record nobody knows what was current once: what is here counts.
        try write(RollbackRecord(highest: record?.highest ?? numbers.reduce(0, max), refused: []))
        return record?.refused.count
    }
}
