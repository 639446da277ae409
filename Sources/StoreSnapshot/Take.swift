import ShipProtocol
import StoreFiles
import SystemPackage

/// The blocking part of taking a copy: from the live store to a file and its external files in a folder.
struct Take: Sendable {
    let path: FilePath
    let content: CopyContent
    /// What is known of its canonical form.
    let canonical: CanonicalFacts
    /// In the order of the references.
    let gathered: [GatheredFile]
    let missing: [ExternalFileReference]
    /// `nil` if nothing was left out.
    let omissions: Omissions?

    struct GatheredFile: Sendable {
        let name: ExternalFileName
        let size: Int64  // bytes
        let path: FilePath
    }

    /// Most copies to take of a store whose external files go away between the copy and the look at them.
    private static let attempts = 3

    /// Takes copies until one has all its files, or the same ones are missing again: the app that removes a file removes
    /// the reference too, so those are missing for good.
    ///
    /// - Throws: `.missingExternalFile`, unless `policy` allows it.
    static func complete(
        of store: FilePath, in folder: FilePath, _ profile: CopyProfile, form: CopyForm, policy: MissingExternalFiles,
        watch: ConnectionWatch
    ) throws(SnapshotError) -> Take {
        var take = try Take(of: store, in: folder, profile, form, number: 1, watch: watch)
        for number in 2...attempts where !take.missing.isEmpty {
            let before = take.missing
            take.discard()
            take = try Take(of: store, in: folder, profile, form, number: number, watch: watch)
            if take.missing == before { break }
        }
        if policy == .refuse, let first = take.missing.first {
            throw .missingExternalFile(first, path: SourceSupportFolder(beside: store).path(of: first.name))
        }
        return take
    }

    private init(
        of store: FilePath, in folder: FilePath, _ profile: CopyProfile, _ form: CopyForm, number: Int,
        watch: ConnectionWatch
    ) throws(SnapshotError) {
        let place = folder.appending("\(number)")
        do throws(FileError) {
            try PlatformCalls.makeFolder(place)
        } catch {
            throw SnapshotError(writing: error, needed: 0)
        }
        let vacuumed = place.appending("vacuumed.sqlite")
        let emptied = try Self.vacuum(store, into: vacuumed, profile, form, watch: watch)
        switch form {
        case .vacuumed:
            path = vacuumed
            canonical = .notMade
        case .canonical:
            let target = place.appending("copy.sqlite")
            let flaw = try CanonicalFile.make(of: vacuumed, as: target, watch.interruption)
            path = flaw == nil ? target : vacuumed
            canonical =
                if let flaw { .impossible(flaw) } else { .made(try CopyContent.indexShapes(of: path, store, watch)) }
        }
        content = try CopyContent(of: path, store: store, watch: watch)
        let support = SourceSupportFolder(beside: store)
        var gathered: [GatheredFile] = []
        var missing: [ExternalFileReference] = []
        var omitted: [Omissions.OmittedFile] = []
        for (index, reference) in content.references.enumerated() {
            try watch.interruption.check()
            let target = place.appending("external-\(index)")
            switch try support.gather(reference.name, as: target, upTo: profile.longestExternalFile) {
            case .gathered(let size):
                gathered.append(GatheredFile(name: reference.name, size: size, path: target))
            case .tooLong(let size): omitted.append(Omissions.OmittedFile(name: reference.name, size: size))
            case .missing: missing.append(reference)
            }
        }
        self.gathered = gathered
        self.missing = missing
        omissions = Omissions(history: emptied.hasHistory, tables: emptied.named, externalFiles: omitted)
    }

    private static func vacuum(
        _ store: FilePath, into target: FilePath, _ profile: CopyProfile, _ form: CopyForm, watch: ConnectionWatch
    ) throws(SnapshotError) -> EmptiedTables {
        for _ in 1...attempts {
            let sidecars = Sidecars(beside: store)
            defer { Sidecars.restore(sidecars, beside: store) }
            let access = try SourceAccess(to: store, sidecars: sidecars)
            let vacuum = VacuumInto(store: store, access: access, profile: profile, form: form, watch: watch)
            let emptied = try vacuum.write(to: target)
            if access.isStillValid(for: store) { return emptied }
            try? PlatformCalls.removeFile(target)
        }
        throw .busy(store, waited: .zero)
    }

    private func discard() {
        try? Folder.removeTree(at: path.removingLastComponent())
    }

    /// SHA-256 of the copy, and of each external file.
    func digests(_ interruption: Interruption) throws(SnapshotError) -> (copy: ContentDigest, files: [ContentDigest]) {
        do throws(FileError) {
            let copy = try FileDigest.sha256(of: path)
            var files: [ContentDigest] = []
            for file in gathered where !interruption.isCancelled { files.append(try FileDigest.sha256(of: file.path)) }
            guard files.count == gathered.count else { throw FileError(.read, path, .canceled) }
            return (copy, files)
        } catch {
            throw interruption.isCancelled ? .cancelled : .file(error)
        }
    }
}
