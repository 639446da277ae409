import EssentialFoundation
import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

/// One restore, from the copy to the store with its new content.
///
///     RestoreSource -> SupportFolderLock -> external files -> lock -> safety copy -> one transaction -> what only the old state needed
///
/// Where there is no store that SQLite could write to, the copy is put in its place instead.
struct RestoreSession: Sendable {
    let home: StoreHome
    let supportLock: SupportFolderLock
    let options: RestoreOptions
    let busyHandler: BusyHandler

    func run(from source: consuming RestoreSource) async throws -> Restoration {
        // A folder of kept copies has a lock of its own: this session would wait for itself.
        if let safetyCopies, let folder = try? PlatformCalls.realPath(of: safetyCopies.folder),
            folder == (try? PlatformCalls.realPath(of: home.supportFolder.path))
        {
            throw OperationError.sharedSupportFolder(safetyCopies.folder, with: home.path)
        }
        switch try await StoreCondition.find(home, busyHandler) {
        case .usable(let survey):
            do {
                return try await rewrite(survey, from: source)
            } catch {
                // SQLite can read it, as far as the schema, and not write to it. A damaged copy is another matter.
                guard let damage = StoreCondition.damage(error, of: home) else { throw error }
                return try await replace(damage, from: source)
            }
        case .lost: return try await replace(nil, from: source)
        case .damaged(let damage):
            guard try options.takesOtherIdentity || StoreCondition.mayHaveBeenStore(home, source.manifest.name) else {
                throw OperationError.strangeFile(home.path)
            }
            return try await replace(damage, from: source)
        }
    }

    private func rewrite(_ survey: StoreSurvey, from source: borrowing RestoreSource) async throws -> Restoration {
        try check(source, against: survey)
        let connection = try LiveConnection(to: home.path, busyHandler)
        // Beside the store: this also removes what a killed restore left there.
        let temporary = try TemporaryFolder(in: home.folder, .besideResults)
        let pages = try pages(of: source, pageSize: survey.pageSize, in: temporary.path)
        // For everything that is written to the store and kept, before anything is written.
        let space = [
            try DiskReservation.make(
                DiskReservation.sizeToRewrite(home.path, with: pages, survey), in: home.folder,
                leaving: options.keptFree),
            try safetyCopies.map { copies throws in
                try DiskReservation.make(
                    DiskReservation.sizeOfSafetyCopy(of: home.path), in: copies.folder, leaving: options.keptFree)
            },
        ]
        defer { withExtendedLifetime(space) {} }
        let rewrite = try Rewrite(of: connection, with: pages)
        let (support, attributes) = (home.supportFolder, try home.attributes)
        let comparison = try support.compare(with: source.files)
        try support.refuseIfLinked(toPut: comparison.missing + comparison.different)
        let filesSpace = try DiskReservation.make(
            DiskReservation.size(of: comparison.missing + comparison.different), in: home.folder,
            leaving: options.keptFree)
        let claims = try await SupportFolderClaims(beside: home, waiting: options.busyTimeout, under: supportLock)
        try claims.refuse(toReplace: comparison.different, in: support)
        let (added, replaced) = (comparison.missing.map(\.file.name), temporary.path.appending("replaced"))
        let earlier = try RestoreRecord(of: home)
        if !added.isEmpty || earlier != nil || safetyCopies != nil {
            try RestoreRecord(begun: Timestamp(Date()), adding: added, to: earlier).write(for: home, in: temporary.path)
        }
        var old = OldState()
        var names: Set<ExternalFileName> = []
        let unproven = source.unproven
        do {
            async let isProven: Void = RestoreSource.prove(
                unproven, takingDamaged: options.takesDamagedCopy, options.checking)
            // Before other programs have to wait: no row refers to these files yet.
            try support.put(comparison.missing, attributes: attributes)
            filesSpace.use(DiskReservation.size(of: comparison.missing))
            // Other programs wait from here on: everything that can be done without the lock has been done.
            try await isProven
            try rewrite.lock()
            // Side by side they take little more than half the time, while other programs wait.
            async let writing: Void = rewrite.writeAhead()
            old = try await keepOldState(through: rewrite, connection, in: temporary.path)
            if let copy = old.safetyCopy { removeOlderTwins(of: copy, since: earlier) }
            try await writing
            try refuse(toReplace: comparison.different, unlessOf: old, earlier)
            try support.keep(comparison.different, in: replaced)
            try support.put(comparison.different, attributes: attributes)
            names = try support.names()
            let going = names.intersection(old.references).subtracting(source.references)
            if old.safetyCopy == nil, !going.isEmpty {
                // After a kill nothing else tells the next restore whose they were.
                try RestoreRecord(begun: Timestamp(Date()), adding: going.union(added), to: earlier)
                    .write(for: home, in: temporary.path)
            }
            try rewrite.commit()
        } catch {
            throw tidyUp(
                after: error, rewrite, adding: added, hadRecord: earlier != nil, old
            ) { support.putBack(comparison.different, from: replaced) }
        }
        // The store has the new content. If this fails, it is unknown whether that survives a power cut.
        try OperationError.wrapping { () throws(FileError) in try home.makeDurable() }
        let candidates = obsolete(of: names.subtracting(source.references), old, earlier)
        let obsolete = claims.solely(candidates)
        if !obsolete.isEmpty, rewrite.settle() { support.remove(obsolete) }
        // The next restore removes what a program still reads.
        let left = candidates.filter { name in
            // What cannot be looked at may be there.
            (try? PlatformCalls.isThere(support.path(of: name))) ?? true
        }
        let unread = left.intersection(obsolete)
        if unread.isEmpty {
            RestoreRecord.remove(for: home)
        } else {
            // Without a safety copy nothing else tells the next restore of them.
            try? RestoreRecord(begun: Timestamp(Date()), adding: unread, to: nil).write(for: home, in: temporary.path)
        }
        let remaining = left.sorted().map { name in
            RemainingFile(support.path(of: name), obsolete.contains(name) ? .stillRead : claims.reason(for: name))
        }
        return Restoration(
            store: home.path, manifest: source.manifest, safetyCopy: old.safetyCopy, damage: old.damage,
            remainingFiles: remaining)
    }

    /// Puts the copy where nothing is, or in place of a file that is set aside: programs that have that open keep it.
    private func replace(_ damage: String?, from source: borrowing RestoreSource) async throws -> Restoration {
        try await RestoreSource.prove(source.unproven, takingDamaged: options.takesDamagedCopy, options.checking)
        let claims = try await SupportFolderClaims(beside: home, waiting: options.busyTimeout, under: supportLock)
        // The copy stays as it is: all of it is written once more here.
        let space = try DiskReservation.make(source.manifest.totalSize, in: home.folder, leaving: options.keptFree)
        defer { withExtendedLifetime(space) {} }
        let placement = StorePlacement(
            at: home, inWALMode: isInWALMode(for: source.manifest), attributes: try home.attributes,
            isDamaged: options.takesDamagedCopy)
        let folder = try placement.replace(
            keeping: DamagedStore(of: home, at: Timestamp(Date())), by: source.manifest, store: source.store,
            files: source.files, beside: claims, busyHandler)
        RestoreRecord.remove(for: home)
        return Restoration(
            store: home.path, manifest: source.manifest, safetyCopy: nil,
            damage: Restoration.Damage(words: damage, keptAs: folder), remainingFiles: [])
    }

    /// How the store kept its transactions, as far as its header or its sidecars still tell; or as Core Data stores do.
    private func isInWALMode(for copy: Manifest) -> Bool {
        if let isInWALMode = try? SourceStore.isInWALMode(at: home.path) { return isInWALMode }
        let hasLog = [home.log, home.logIndex].contains { (try? PlatformCalls.isThere($0)) ?? true }
        return hasLog || copy.coreData != nil
    }

    private func check(_ source: borrowing RestoreSource, against store: StoreSurvey) throws(OperationError) {
        let copy = source.manifest
        // A store without tables belongs to no app, and loses nothing.
        if !options.takesOtherIdentity, store.schema != nil {
            guard copy.identity == store.identity else {
                throw .otherIdentity(home.path, has: store.identity, copyHas: copy.identity)
            }
            // A copy that was taken here is one of this store from before a migration.
            guard store.identity != nil || source.schema == store.schema || source.original == home.path else {
                throw .otherSchema(home.path)
            }
        }
        // A store of no bytes has no encoding yet.
        let hasPages = (try? PlatformCalls.status(of: home.path).size) != 0
        guard !hasPages || copy.store.textEncoding == store.textEncoding else {
            throw .otherTextEncoding(home.path, store.textEncoding, copyHas: copy.store.textEncoding)
        }
    }

    /// The copy's own file, or one with pages of the right size.
    private func pages(of source: borrowing RestoreSource, pageSize: Int, in folder: FilePath) throws -> FilePath {
        guard source.manifest.store.pageSize != pageSize else { return source.store }
        let path = folder.appending("copy.sqlite")
        let space = try DiskReservation.make(
            PageSizeChange.room(for: source.manifest.store.size), in: folder, leaving: options.keptFree)
        try PageSizeChange.make(of: source.store, at: path, pageSize: pageSize, in: space, busyHandler)
        return path
    }

    /// The store as it was before the restore, while no other program can write to it.
    private struct OldState: Sendable {
        var safetyCopy: KeptCopy?
        /// Why no copy of its rows could be taken, and where its bytes are kept.
        var damage: Restoration.Damage?
        var references: Set<ExternalFileName> = []
    }

    private func keepOldState(
        through rewrite: Rewrite, _ connection: LiveConnection, in folder: FilePath
    ) async throws -> OldState {
        do {
            do {
                return try await saveOldState(through: rewrite)
            } catch let error where StoreCondition.damage(error) != nil {
                // A page that could not be read looks like damage, also one of the copy itself: what is found twice is damage.
                return try await saveOldState(through: rewrite)
            }
        } catch {
            guard let words = StoreCondition.damage(error) ?? StoreCondition.need(of: error) else { throw error }
            // SQLite can write over its pages all the same, and its bytes can be kept.
            let damaged = DamagedStore(of: home, at: Timestamp(Date()))
            try damaged.keepCopy(through: connection, in: folder)
            return OldState(damage: Restoration.Damage(words: words, keptAs: damaged.folder))
        }
    }

    private func saveOldState(through rewrite: Rewrite) async throws -> OldState {
        let source = try SourceStore(at: home.path, busyTimeout: options.busyTimeout, through: rewrite.reader)
        guard let safetyCopies else { return OldState(references: try await source.survey().externalFiles) }
        var copyOptions = CopyOptions()
        copyOptions.busyTimeout = options.busyTimeout
        // The store may lack files: that is no reason to refuse it better content.
        copyOptions.allowsMissingExternalFiles = true
        copyOptions.inCanonicalForm = false
        copyOptions.hasRoom = true
        let copy = try await LocalStore(home.path, options: copyOptions)
            .keepCopy(
                of: source, in: safetyCopies, tags: [try CopyTag(CopyTag.beforeRestore)],
                for: options.safetyCopy == .beside ? try home.attributes : nil, busyHandler)
        return OldState(safetyCopy: copy, references: Set(copy.manifest.externalFiles.map(\.name)))
    }

    /// A file that no row of the old state has, and no earlier restore has left, is not the store's: nothing proves that it may go.
    ///
    /// - Throws: `.occupied`.
    private func refuse(
        toReplace files: [(file: ExternalFile, path: FilePath)], unlessOf old: OldState, _ earlier: RestoreRecord?
    ) throws(OperationError) {
        // The rows of a damaged store cannot be read.
        guard old.damage == nil else { return }
        let strange = files.first { !old.references.contains($0.file.name) && earlier?.lists($0.file.name) != true }
        if let strange { throw .occupied(home.supportFolder.path(of: strange.file.name)) }
    }

    /// - Parameters:
    ///   - added: External files that were not there before.
    ///   - putBack: Puts those back that were replaced, and says whether all are as they were.
    /// - Returns: The error to throw, which tells what could not be removed.
    private func tidyUp(
        after error: any Error, _ rewrite: Rewrite, adding added: [ExternalFileName], hadRecord: Bool, _ old: OldState,
        _ putBack: () -> Bool
    ) -> any Error {
        let isOldForGood = !rewrite.hasFailedAtTheEnd || rewrite.undoForGood()
        let support = home.supportFolder
        if isOldForGood {
            support.remove(added)
            // Until every file is back, the copy is the only place of its bytes.
            if putBack() {
                dropSafetyCopy(old.safetyCopy)
                // After a failure at the end the bytes of a damaged store are kept.
                if !rewrite.hasFailedAtTheEnd, let folder = old.damage?.keptAs {
                    try? Folder.removeTree(at: folder)
                }
            }
        }
        func exists(_ path: FilePath) -> Bool { (try? PlatformCalls.isThere(path)) ?? true }
        let leftovers = Leftovers(
            safetyCopy: (old.safetyCopy?.path ?? old.damage?.keptAs).flatMap { exists($0) ? $0 : nil },
            externalFiles: added.map { support.path(of: $0) }.filter(exists))
        if leftovers.isEmpty, !hadRecord { RestoreRecord.remove(for: home) }
        return leftovers.isEmpty ? error : ShipmentError.unfinished(ShipmentError(error), leftovers)
    }

    /// Removes the safety copy of a store that is as it was, and its folder if that is empty.
    private func dropSafetyCopy(_ copy: KeptCopy?) {
        guard let safetyCopies else { return }
        if let copy { _ = try? safetyCopies.remove([copy]) }
        if options.safetyCopy == .beside { try? PlatformCalls.removeEmptyFolder(safetyCopies.folder) }
    }

    /// Removes the copies that an interrupted restore kept of the same state: one copy is enough.
    private func removeOlderTwins(of copy: KeptCopy, since record: RestoreRecord?) {
        guard let record, let safetyCopies, let listing = try? safetyCopies.list() else { return }
        let twins = listing.copies.filter { other in
            other.path != copy.path && other.originalStore == home.path && other.tags == copy.tags
                && other.manifest.createdAt >= record.begun
                && other.manifest.hasSameContent(as: copy.manifest)
        }
        _ = try? safetyCopies.remove(twins)
    }

    private var safetyCopies: KeptCopies? {
        switch options.safetyCopy {
        case .beside: KeptCopies.besideStore(at: home.path)
        case .kept(let copies): copies
        case .none: nil
        }
    }

    /// The files to which only the old state refers, or that earlier restores left. Other files may belong to a commit that is
    /// still to come. The folder may have copies of other stores of that name: only copies of this store count.
    private func obsolete(
        of files: Set<ExternalFileName>, _ old: OldState, _ earlier: RestoreRecord?
    ) -> Set<ExternalFileName> {
        guard !files.isSubset(of: old.references) else { return files }
        let copies = ((try? safetyCopies?.list())?.copies ?? []).filter {
            $0.originalStore == home.path
        }
        return files.intersection(old.references.union(copies.flatMap { $0.manifest.externalFiles.map(\.name) }))
            .union(files.filter { earlier?.lists($0) == true })
    }
}
