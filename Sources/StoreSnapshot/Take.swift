import ShipProtocol
import StoreFiles
import SystemPackage

/// The blocking part of taking a copy: from the live store to a file and its external files in a folder.
struct Take: Sendable {
    let path: FilePath
    let content: CopyContent
    /// What is known of its canonical form.
    let canonical: CanonicalFacts
    /// What is in its tables, as far as that was found on the way.
    let tables: Tables
    /// In the order of the references.
    let gathered: [GatheredFile]
    let missing: [ExternalFileReference]
    /// `nil` if nothing was left out.
    let omissions: Omissions?

    enum Tables: Sendable {
        /// `nil` if it cannot be told of all of them, or nobody wants to know.
        case known([ForeignText: TableContent]?)
        /// The copy has to be read for it.
        case unread
    }

    struct GatheredFile: Sendable {
        let name: ExternalFileName
        let size: Int64  // bytes
        let path: FilePath
    }

    /// Most copies to take of a store whose external files come and go too fast to be held.
    private static let attempts = 10
    /// Most copies to take of a store that changes under each where it can only be read without locks, or whose file is
    /// replaced under each.
    private static let attemptsOfOne = 3

    /// Takes copies until one has all its files, or the same ones are missing again: the app that removes a file removes
    /// the reference too, so those are missing for good. What one take has held the next one need not find again.
    ///
    /// - Throws: `.missingExternalFile`, unless `policy` allows it.
    static func complete(
        of store: FilePath, in folder: FilePath, _ profile: CopyProfile, form: CopyForm, policy: MissingExternalFiles,
        marking: OmissionMarking, watch: ConnectionWatch
    ) throws(SnapshotError) -> Take {
        let hold = ExternalFileHold(
            SourceSupportFolder(beside: store), in: folder, upTo: profile.longestExternalFile)
        defer { hold.release() }
        var take = try Take(of: store, in: folder, profile, form, marking, number: 1, hold, watch: watch)
        for number in 2...attempts where !take.missing.isEmpty {
            let before = take.missing
            take.discard()
            take = try Take(of: store, in: folder, profile, form, marking, number: number, hold, watch: watch)
            if take.missing == before { break }
        }
        if policy == .refuse, let first = take.missing.first {
            throw .missingExternalFile(first, path: SourceSupportFolder(beside: store).path(of: first.name))
        }
        return take
    }

    private init(
        of store: FilePath, in folder: FilePath, _ profile: CopyProfile, _ form: CopyForm, _ marking: OmissionMarking,
        number: Int, _ hold: ExternalFileHold, watch: ConnectionWatch
    ) throws(SnapshotError) {
        let place = folder.appending("\(number)")
        do throws(FileError) {
            try PlatformCalls.makeFolder(place)
        } catch {
            throw SnapshotError(writing: error, needed: 0)
        }
        let vacuumed = place.appending("vacuumed.sqlite")
        let canonicalPath = place.appending("copy.sqlite")
        // What is left out is written into the vacuumed copy, where it has to be.
        let isWritten = marking == .written && profile.leavesOut
        let beginning = VacuumInto.Beginning()
        let (vacuum, written) = try hold.during { () throws(SnapshotError) in
            try Self.vacuum(
                store, into: vacuumed, for: form == .canonical && !isWritten ? .canonical(canonicalPath) : .vacuumed,
                profile, form, marking, beginning, watch: watch)
        } hasBegun: {
            beginning.isOver || VacuumInto.hasBegun(writing: vacuumed)
        }
        var files: ExternalFiles?
        if isWritten {
            // The last page is written before the canonical form is made, and the last file found before that page.
            let references = try CopyContent(of: vacuumed, store: store, watch: watch).references
            let found = try ExternalFiles(references, of: store, in: place, profile, written.emptied.mark, hold, watch)
            if let omissions = found.omissions(beside: written.emptied) {
                try OmissionMark.write(omissions, intoCopy: vacuumed, of: store, watch)
            }
            files = found
        }
        var made: CanonicalFile.Outcome?
        switch written.form {
        case .vacuumed: break
        case .canonical(let tables): made = .made(tables: tables)
        case .pages(let pages, let order):
            made = try CanonicalFile.make(of: .pages(pages, order), as: canonicalPath, watch.interruption)
            if case .impossible = made {
                try vacuum.vacuum(pages, into: vacuumed, written.room)
                made = nil
            }
        }
        if form == .canonical, made == nil {
            made = try CanonicalFile.make(of: .compact(vacuumed), as: canonicalPath, watch.interruption)
        }
        switch made {
        case nil:
            path = vacuumed
            canonical = .notMade
            tables = .known(nil)
        case .made(let told):
            path = canonicalPath
            canonical = .made(try CopyContent.indexShapes(of: path, store, watch))
            tables = .known(told)
        case .impossible(let flaw):
            path = vacuumed
            canonical = .impossible(flaw)
            tables = .unread
        }
        // All that it is for has been written.
        withExtendedLifetime(written.room) {}
        content = try CopyContent(of: path, store: store, watch: watch)
        let found: ExternalFiles
        if let files {
            found = files
        } else {
            found = try ExternalFiles(
                content.references, of: store, in: place, profile, written.emptied.mark, hold, watch)
        }
        gathered = found.gathered
        missing = found.missing
        omissions = found.omissions(beside: written.emptied)
    }

    /// What becomes of the external files that the rows of a copy refer to.
    private struct ExternalFiles {
        var gathered: [GatheredFile] = []
        var missing: [ExternalFileReference] = []
        var omitted: [Omissions.OmittedFile] = []

        /// - Parameter mark: What the store itself came without: such a file is not missing.
        init(
            _ references: [ExternalFileReference], of store: FilePath, in folder: FilePath, _ profile: CopyProfile,
            _ mark: Omissions?, _ hold: ExternalFileHold, _ watch: ConnectionWatch
        ) throws(SnapshotError) {
            let support = SourceSupportFolder(beside: store)
            for (index, reference) in references.enumerated() {
                try watch.interruption.check()
                let target = folder.appending("external-\(index)")
                var gathering = try support.gather(reference.name, as: target, upTo: profile.longestExternalFile)
                if gathering == .missing { gathering = try hold.gather(reference.name, as: target) }
                switch gathering {
                case .gathered(let size):
                    gathered.append(GatheredFile(name: reference.name, size: size, path: target))
                case .tooLong(let size): omitted.append(Omissions.OmittedFile(name: reference.name, size: size))
                case .missing:
                    if let known = mark?.externalFiles.first(where: { $0.name == reference.name }) {
                        omitted.append(known)
                    } else {
                        missing.append(reference)
                    }
                }
            }
        }

        /// All that is left out, now or when the store itself was copied.
        func omissions(beside emptied: EmptiedTables) -> Omissions? {
            Omissions(
                history: emptied.hasHistory || emptied.stillEmpty.history,
                tables: Array(Set(emptied.named.map { ForeignText($0) }).union(emptied.stillEmpty.tables)),
                externalFiles: omitted)
        }
    }

    private static func vacuum(
        _ store: FilePath, into target: FilePath, for wanted: VacuumInto.Wanted, _ profile: CopyProfile,
        _ form: CopyForm, _ marking: OmissionMarking, _ beginning: VacuumInto.Beginning, watch: ConnectionWatch
    ) throws(SnapshotError) -> (VacuumInto, VacuumInto.Written) {
        for _ in 1...attemptsOfOne {
            let sidecars = Sidecars(beside: store)
            defer { Sidecars.restore(sidecars, beside: store) }
            let access = try SourceAccess(to: store, sidecars: sidecars)
            let vacuum = VacuumInto(
                store: store, access: access, profile: profile, form: form, marking: marking, watch: watch,
                beginning: beginning)
            let written: VacuumInto.Written
            do throws(SnapshotError) {
                written = try vacuum.write(to: target, for: wanted)
            } catch {
                guard beginning.takeMovedAway() else { throw error }
                vacuum.discard(target, wanted)
                continue
            }
            if access.isStillValid(for: store) { return (vacuum, written) }
            vacuum.discard(target, wanted)
        }
        throw .busy(store, waited: .zero)
    }

    private func discard() {
        try? Folder.removeTree(at: path.removingLastComponent())
    }

    /// What is in its tables; `nil` if that cannot be told of all of them.
    func tables(_ interruption: Interruption) throws(SnapshotError) -> [ForeignText: TableContent]? {
        switch tables {
        case .known(let told): return told
        case .unread:
            // What has no canonical form may be read all the same.
            let digests = try? TableDigests.read(path) { try interruption.check() }
            try interruption.check()
            return digests?.told
        }
    }

    /// SHA-256 of the copy, and of each external file.
    func digests(_ interruption: Interruption) throws(SnapshotError) -> (copy: ContentDigest, files: [ContentDigest]) {
        do throws(FileError) {
            let copy = try FileDigest.sha256(of: path) { interruption.isCancelled }
            var files: [ContentDigest] = []
            for file in gathered { files.append(try FileDigest.sha256(of: file.path) { interruption.isCancelled }) }
            return (copy, files)
        } catch {
            throw interruption.isCancelled ? .cancelled : .file(error)
        }
    }
}
