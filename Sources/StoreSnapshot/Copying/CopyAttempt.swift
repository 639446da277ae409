import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

/// The blocking part of taking a copy: from the live store to a file and its external files in a folder.
struct CopyAttempt: Sendable {
    let path: FilePath
    let content: CopyContent
    /// The findings from its bytes alone, meanwhile.
    private let proof: CopyProof
    /// See `CompactCopy.canonical`.
    let canonical: Result<[String: IndexShape], StoreFlaw>?
    /// The content of its tables, as far as it is known from the making of the canonical form.
    private let knownTables: [ForeignText: TableContent]?
    /// In the order of the references; sizes in bytes.
    let gathered: [(name: ExternalFileName, size: Int64, path: FilePath)]
    let missing: [ExternalFileReference]
    /// `nil` if nothing was left out.
    let omissions: Omissions?

    /// Most attempts on a store whose external files come and go too fast to be held.
    private static let mostAttempts = 10
    /// Most times that one attempt begins anew, because the store's file was replaced, or because the store changed where it
    /// can only be read without locks.
    private static let mostBeginnings = 3

    /// Takes copies until one has all its external files, or the same files are missing twice: an app that removes a file
    /// removes the reference too, so those are missing for good. The files that one attempt has held, the next one has too.
    ///
    /// - Throws: `.missingExternalFile`, unless that is allowed.
    static func complete(
        of store: FilePath, in folder: FilePath, _ profile: CopyProfile, inCanonicalForm: Bool,
        allowsMissingExternalFiles: Bool, marking: OmissionMarking, watch: ConnectionWatch
    ) throws(SnapshotError) -> CopyAttempt {
        let hold = ExternalFileHold(SourceSupportFolder(beside: store), in: folder, upTo: profile.longestExternalFile)
        defer { hold.release() }
        func take(_ number: Int) throws(SnapshotError) -> CopyAttempt {
            try CopyAttempt(
                of: store, in: folder, profile, inCanonicalForm: inCanonicalForm, marking, number: number, hold,
                watch: watch)
        }
        var attempt = try take(1)
        for number in 2...mostAttempts where !attempt.missing.isEmpty {
            let before = attempt.missing
            try? Folder.removeTree(at: attempt.path.removingLastComponent())
            attempt = try take(number)
            if attempt.missing == before { break }
        }
        if !allowsMissingExternalFiles, let first = attempt.missing.first {
            throw .missingExternalFile(first, path: SourceSupportFolder(beside: store).path(of: first.name))
        }
        return attempt
    }

    private init(
        of store: FilePath, in folder: FilePath, _ profile: CopyProfile, inCanonicalForm: Bool,
        _ marking: OmissionMarking, number: Int, _ hold: ExternalFileHold, watch: ConnectionWatch
    ) throws(SnapshotError) {
        let place = folder.appending("\(number)")
        try SnapshotError.writing { () throws(FileError) in try PlatformCalls.makeFolder(place) }
        let vacuumed = place.appending("vacuumed.sqlite")
        let canonicalPath = place.appending("copy.sqlite")
        // The mark is written into the copy of the pages, or into the vacuumed copy, where one is wanted.
        let isWritten = marking == .written && profile.leavesOut
        let beginning = VacuumInto.Beginning()
        let written = try hold.during { () throws(SnapshotError) in
            try Self.vacuum(
                store, into: vacuumed, orAtOnceTo: inCanonicalForm && !isWritten ? canonicalPath : nil, profile,
                inCanonicalForm: inCanonicalForm, marking, beginning, watch: watch)
        } hasBegun: {
            beginning.isOver || VacuumInto.hasBegun(writing: vacuumed)
        }
        // All external files are found before the mark is written, and the mark before the canonical form is made.
        let raw = if case .pages(let pages) = written.form { pages.path } else { vacuumed }
        let markedFiles =
            try isWritten
            ? Self.externalFiles(
                of: CopyContent(of: raw, store: store, watch: watch), store, in: place, profile, written.emptied,
                hold, watch) : nil
        try markedFiles?.omissions?.mark(copy: raw, of: store, watch)
        var made: CanonicalSource.Outcome?
        switch written.form {
        case .vacuumed: break
        case .canonical(let tables): made = .success(tables)
        case .pages(let pages):
            made = try pages.makeCanonical(as: canonicalPath, orVacuumTo: vacuumed, written.space)
        }
        if inCanonicalForm, made == nil {
            made = try CanonicalSource.compact(vacuumed).makeCanonical(as: canonicalPath, watch)
        }
        // Everything that the space was reserved for has been written.
        withExtendedLifetime(written.space) {}
        let isCanonical = if case .success = made { true } else { false }
        path = isCanonical ? canonicalPath : vacuumed
        proof = CopyProof(of: path, store: store, watch: watch)
        content = try CopyContent(of: path, store: store, withIndexShapes: isCanonical, watch: watch)
        (canonical, knownTables) =
            switch made {
            case nil: (nil, nil)
            case .success(let tables): (.success(content.indexShapes ?? [:]), tables)
            case .failure(let flaw): (.failure(flaw), nil)
            }
        (gathered, missing, omissions) =
            if let markedFiles {
                markedFiles
            } else {
                try Self.externalFiles(of: content, store, in: place, profile, written.emptied, hold, watch)
            }
    }

    /// Gathers the external files to which the rows of a copy refer.
    ///
    /// - Returns: Also everything that is left out, tables and history too, now or when the store itself was copied. A file that the store
    ///   itself lacks is not missing.
    private static func externalFiles(
        of copy: CopyContent, _ store: FilePath, in folder: FilePath, _ profile: CopyProfile, _ emptied: EmptiedTables,
        _ hold: ExternalFileHold, _ watch: ConnectionWatch
    ) throws(SnapshotError) -> (
        gathered: [(name: ExternalFileName, size: Int64, path: FilePath)], missing: [ExternalFileReference],
        omissions: Omissions?
    ) {
        var gathered: [(name: ExternalFileName, size: Int64, path: FilePath)] = []
        var (missing, omitted): ([ExternalFileReference], [Omissions.OmittedFile]) = ([], [])
        let support = SourceSupportFolder(beside: store)
        for (index, reference) in copy.references.enumerated() {
            try watch.interruption.check()
            let target = folder.appending("external-\(index)")
            var size = try support.gather(reference.name, as: target, upTo: profile.longestExternalFile)
            if size == nil { size = try hold.gather(reference.name, as: target) }
            if let size {
                if size <= profile.longestExternalFile ?? .max {
                    gathered.append((reference.name, size, target))
                } else {
                    omitted.append(Omissions.OmittedFile(name: reference.name, size: size))
                }
            } else if let known = emptied.mark?.externalFiles.first(where: { $0.name == reference.name }) {
                omitted.append(known)
            } else {
                missing.append(reference)
            }
        }
        let omissions = Omissions(
            history: emptied.hasHistory || emptied.stillEmpty.history,
            tables: Array(Set(emptied.named.map { ForeignText($0) }).union(emptied.stillEmpty.tables)),
            externalFiles: omitted)
        return (gathered, missing, omissions)
    }

    private static func vacuum(
        _ store: FilePath, into target: FilePath, orAtOnceTo canonical: FilePath?, _ profile: CopyProfile,
        inCanonicalForm: Bool, _ marking: OmissionMarking, _ beginning: VacuumInto.Beginning, watch: ConnectionWatch
    ) throws(SnapshotError) -> (form: VacuumInto.Form, emptied: EmptiedTables, space: FreeSpace) {
        for _ in 1...mostBeginnings {
            let sidecars = Sidecars(beside: store)
            defer { Sidecars.restore(sidecars, beside: store) }
            let access = try SourceAccess(to: store, sidecars: sidecars)
            let vacuum = VacuumInto(
                store: store, access: access, profile: profile, inCanonicalForm: inCanonicalForm, marking: marking,
                watch: watch, beginning: beginning)
            let written: (form: VacuumInto.Form, emptied: EmptiedTables, space: FreeSpace)
            do throws(SnapshotError) {
                written = try vacuum.write(to: target, orAtOnceTo: canonical)
            } catch {
                guard beginning.takeMovedAway() else { throw error }
                vacuum.discard(target, canonical)
                continue
            }
            if access.isStillValid(for: store) { return written }
            vacuum.discard(target, canonical)
        }
        throw .busy(store, waited: .zero)
    }

    /// The findings from the bytes of a copy and of its external files.
    struct Proven: Sendable {
        let sha256: ContentDigest
        /// The first complaint of SQLite's check; `nil` for a sound copy.
        let damage: ForeignText?
        /// In the order of `gathered`.
        let files: [ContentDigest]
        /// The content of its tables; `nil` if that cannot be told of all of them, or was not asked for.
        let tables: [ForeignText: TableContent]?
    }

    /// Reads the external files, and waits until the copy has been read. Called once.
    ///
    /// - Parameter takesDamaged: Whether the copy may fail SQLite's check.
    /// - Throws: `.corrupt`, `.cancelled`, `.file`.
    func proven(
        _ interruption: Interruption, _ known: ExternalFileDigests, takingDamaged takesDamaged: Bool
    ) throws(SnapshotError) -> Proven {
        let (files, tables) = (try digests(interruption, known), try tables(interruption))
        let (sha256, damage) = try proof.finish(takingDamaged: takesDamaged)
        return Proven(sha256: sha256, damage: damage, files: files, tables: tables)
    }

    private func tables(_ interruption: Interruption) throws(SnapshotError) -> [ForeignText: TableContent]? {
        guard case .failure = canonical else { return knownTables }
        // A copy without a canonical form may be readable all the same.
        let digests = try? TableDigests.read(path) { try interruption.check() }
        try interruption.check()
        return digests?.told
    }

    /// SHA-256 of each external file.
    private func digests(
        _ interruption: Interruption, _ known: ExternalFileDigests
    ) throws(SnapshotError) -> [ContentDigest] {
        do throws(FileError) {
            return try known.digests(of: gathered) { interruption.isCancelled }
        } catch {
            throw interruption.isCancelled ? .cancelled : .file(error)
        }
    }
}
