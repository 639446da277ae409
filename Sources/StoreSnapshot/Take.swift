import ShipProtocol
import StoreFiles
import SystemPackage

/// The blocking part of taking a copy: from the live store to a file and its external files in a folder.
struct Take: Sendable {
    let path: FilePath
    let content: CopyContent
    /// In the order of the references.
    let gathered: [GatheredFile]
    let missing: [ExternalFileReference]

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
        of store: FilePath, in folder: FilePath, policy: MissingExternalFiles, watch: ConnectionWatch
    ) throws(SnapshotError) -> Take {
        var take = try Take(of: store, in: folder, number: 1, watch: watch)
        for number in 2...attempts where !take.missing.isEmpty {
            let before = take.missing
            take.discard()
            take = try Take(of: store, in: folder, number: number, watch: watch)
            if take.missing == before { break }
        }
        if policy == .refuse, let first = take.missing.first {
            throw .missingExternalFile(first, path: SupportFolder(beside: store).path(of: first.name))
        }
        return take
    }

    private init(of store: FilePath, in folder: FilePath, number: Int, watch: ConnectionWatch) throws(SnapshotError) {
        let place = folder.appending("\(number)")
        do throws(FileError) {
            try PlatformCalls.makeFolder(place)
        } catch {
            throw SnapshotError(writing: error, needed: 0)
        }
        path = place.appending("copy.sqlite")
        try Self.vacuum(store, into: path, watch: watch)
        content = try CopyContent(of: path, store: store, watch: watch)
        let support = SupportFolder(beside: store)
        var gathered: [GatheredFile] = []
        var missing: [ExternalFileReference] = []
        for (index, reference) in content.references.enumerated() {
            try watch.interruption.check()
            let target = place.appending("external-\(index)")
            if let size = try support.gather(reference.name, as: target) {
                gathered.append(GatheredFile(name: reference.name, size: size, path: target))
            } else {
                missing.append(reference)
            }
        }
        self.gathered = gathered
        self.missing = missing
    }

    private static func vacuum(
        _ store: FilePath, into target: FilePath, watch: ConnectionWatch
    ) throws(SnapshotError) {
        for _ in 1...attempts {
            let sidecars = Sidecars(beside: store)
            defer { Sidecars.restore(sidecars, beside: store) }
            let access = try SourceAccess(to: store, sidecars: sidecars)
            try VacuumInto(store: store, access: access, watch: watch).write(to: target)
            if access.isStillValid(for: store) { return }
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
