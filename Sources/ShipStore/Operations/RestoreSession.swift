import ShipProtocol
import StoreFiles
import StoreInbox
import StoreOperations
import StoreSnapshot
import SystemPackage

/// One restore, from the copy to the store that everybody sees anew.
///
///     RestoreSource -> external files -> lock -> safety copy -> one transaction -> what only the old state needed
struct RestoreSession: Sendable {
    let home: StoreHome
    let options: RestoreOptions
    let patience: Patience

    func run(from source: consuming RestoreSource) async throws -> Restoration {
        let connection = try LiveConnection(to: home.path, .shared, patience)
        let survey = try await SourceStore(at: home.path, busyTimeout: options.busyTimeout).survey()
        try check(source.manifest, against: survey)
        // Beside the store: this also sweeps what a killed restore left there.
        let room = try TemporaryFolder(in: home.folder, .besideResults)
        let pages = try pages(of: source, pageSize: survey.pageSize, in: room.path)
        let rewrite = try Rewrite(of: connection, with: pages)
        let (support, mode) = (home.supportFolder, try home.mode)
        let comparison = try support.compare(with: source.files)
        let claims = await SupportFolderClaims(beside: home, waiting: options.busyTimeout)
        if let user = claims.user, comparison.different.contains(where: { claims.mayRefer(to: $0.file.name) }) {
            throw OperationError.sharedSupportFolder(support.path, with: user)
        }
        var old = OldState(safetyCopy: nil, references: [])
        let proof = source.proof
        do {
            // The copy is read while the store is: side by side they take half the time.
            async let isProven: Void = proof.find(options.checking)
            // Before anybody has to wait: what is referred to by nobody yet is in nobody's way.
            try support.put(comparison.missing, mode: mode)
            // Where everybody waits for it, nothing is done under the lock that can be done before.
            if safetyCopies == nil || rewrite.keepsReadersOut { try await isProven }
            try rewrite.lock()
            // Side by side they take little more than half the time, and it is others who wait.
            async let writing: Void = rewrite.writeAhead()
            old = try await keepOldState(through: rewrite)
            try await writing
            try await isProven
            try support.put(comparison.different, mode: mode)
            try rewrite.commit()
        } catch {
            if case Rewrite.Failure.atTheEnd(let error) = error { throw error }
            support.remove(comparison.missing.map(\.file.name))
            dropSafetyCopy(old.safetyCopy)
            if case Rewrite.Failure.before(let error) = error { throw error }
            throw error
        }
        let candidates = obsolete(of: support.names().subtracting(source.references), old)
        let obsolete = claims.solely(candidates)
        if !obsolete.isEmpty, rewrite.settle() { support.remove(obsolete) }
        return Restoration(
            store: home.path, manifest: source.manifest, safetyCopy: old.safetyCopy,
            remainingFiles: support.names().intersection(candidates).sorted())
    }

    private func check(_ copy: Manifest, against store: StoreSurvey) throws(OperationError) {
        if options.identity == .same, copy.identity != store.identity {
            throw .otherIdentity(home.path, has: store.identity, copyHas: copy.identity)
        }
        guard copy.store.textEncoding == store.textEncoding else {
            throw .otherTextEncoding(home.path, store.textEncoding, copyHas: copy.store.textEncoding)
        }
    }

    /// The copy's own file, or one with pages of the right size.
    private func pages(
        of source: borrowing RestoreSource, pageSize: Int, in folder: FilePath
    ) throws(OperationError) -> FilePath {
        guard source.manifest.store.pageSize != pageSize else { return source.store }
        let path = folder.appending("copy.sqlite")
        try PageSizeChange.make(of: source.store, at: path, pageSize: pageSize, patience)
        return path
    }

    /// The store as it is while nobody can write to it.
    private struct OldState: Sendable {
        let safetyCopy: KeptCopy?
        let references: Set<ExternalFileName>
    }

    private func keepOldState(through rewrite: Rewrite) async throws -> OldState {
        let source = try SourceStore(at: home.path, busyTimeout: options.busyTimeout, through: rewrite.reader)
        guard let safetyCopies else {
            return OldState(safetyCopy: nil, references: try await source.survey().externalFiles)
        }
        var copyOptions = CopyOptions()
        copyOptions.busyTimeout = options.busyTimeout
        // What the store lacks already is no reason not to give it something better.
        copyOptions.missingExternalFiles = .shipWithout
        copyOptions.form = .vacuumed
        let copy = try await LocalStore(home.path, options: copyOptions)
            .keepCopy(of: source, in: safetyCopies, tags: [try CopyTag(CopyTag.beforeRestore)], patience)
        return OldState(safetyCopy: copy, references: Set(copy.manifest.externalFiles.map(\.name)))
    }

    /// The store is as it was: nobody needs the copy, nor a folder that has nothing else in it.
    private func dropSafetyCopy(_ copy: KeptCopy?) {
        guard let safetyCopies else { return }
        if let copy { _ = try? safetyCopies.remove([copy]) }
        if options.safetyCopy == .beside { try? PlatformCalls.removeEmptyFolder(safetyCopies.folder) }
    }

    private var safetyCopies: KeptCopies? {
        switch options.safetyCopy {
        case .beside: KeptCopies.besideStore(at: home.path)
        case .kept(let copies): copies
        case .none: nil
        }
    }

    /// Those of the files that only the old state refers to, or that earlier restores had to leave behind. Others may be
    /// new ones, of a commit that is still to come.
    private func obsolete(of files: Set<ExternalFileName>, _ old: OldState) -> Set<ExternalFileName> {
        guard !files.isSubset(of: old.references) else { return files }
        let copies = ((try? safetyCopies?.list())?.copies ?? []).filter {
            $0.manifest.name == StoreName(suggestedBy: home.path)
        }
        return files.intersection(old.references.union(copies.flatMap { $0.manifest.externalFiles.map(\.name) }))
    }
}
