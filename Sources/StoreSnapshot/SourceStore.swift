package import GRDB
import GRDBSQLite
import ShipProtocol
import StoreFiles
import StoreFormat
package import SystemPackage

/// A live SQLite store, which is read and never changed.
package struct SourceStore: Sendable {
    /// Absolute and without symbolic links: SQLite's sidecars and Core Data's external files are beside the file itself.
    package let path: FilePath
    /// How long to wait for a connection that keeps all others out.
    package let busyTimeout: Duration
    /// A connection that keeps all others out of the store; `nil` to read it beside others.
    let held: DatabaseQueue?

    /// Bytes that a copy leaves free on its disk; `nil` where the caller has reserved the space.
    package var keptFree: Int64? = 0
    /// A copy of the store that was taken before, and does not change: where the file system clones, the next one is written only where it
    /// differs.
    package var earlierCopy: FilePath?
    /// What earlier copies have found out of its external files.
    package var digests = ExternalFileDigests()

    package static let defaultBusyTimeout = Duration.seconds(10)

    /// Checks the file as far as possible without reading its pages.
    ///
    /// A file of 0 bytes is an empty database to SQLite, and is one here: its copy has one page, and no tables.
    ///
    /// - Parameters:
    ///   - held: A connection that keeps all others out of the store: then the store is read through it.
    ///   - takesSeveralNames: Whether a store is read whose log or journal may be beside another name of it.
    /// - Throws: `.noSuchFile`, `.folder`, `.notARegularFile`, `.noPermission`, `.notADatabase`, `.truncated`, `.severalNames`.
    package init(
        at path: FilePath, busyTimeout: Duration = defaultBusyTimeout, through held: DatabaseQueue? = nil,
        takesSeveralNames: Bool = false
    ) throws(SnapshotError) {
        let real: FilePath
        let status: FileStatus
        do throws(FileError) {
            real = try PlatformCalls.realPath(of: path)
            status = try PlatformCalls.status(of: real)
        } catch {
            throw SnapshotError(finding: path, error)
        }
        switch status.kind {
        case .file: break
        case .folder: throw .folder(path)
        case .symbolicLink, .pipe, .socket, .characterDevice, .other: throw .notARegularFile(path)
        }
        // SQLite would wait for the other end of a pipe, and follows no symbolic link there.
        for sidecar in ["-journal", "-wal"].map({ FilePath(text: real.text + $0) })
        where (try? PlatformCalls.status(of: sidecar))?.kind ?? .file != .file { throw .notARegularFile(sidecar) }
        // SQLite takes it for an empty store, and removes the log of an empty store.
        if held == nil, status.size == 0, Sidecars(beside: real).logHasFrames {
            throw .logOfNothing(path)
        }
        let isInWALMode = try StoreHandle(real).header()?.isInWALMode ?? false
        if held == nil, !takesSeveralNames, Self.mayHaveOtherLog(real, status, isInWALMode: isInWALMode) {
            throw .severalNames(path)
        }
        self.path = real
        self.busyTimeout = busyTimeout
        self.held = held
    }

    /// Refuses a store that may not be opened by this name: SQLite would look for its log or journal beside it.
    ///
    /// - Parameter path: Absolute and without symbolic links.
    /// - Throws: `.severalNames`; what reading the header throws, but for `.notADatabase` and `.truncated`.
    package static func refuseSeveralNames(of path: FilePath) throws(SnapshotError) {
        let status = try SnapshotError.wrapping { () throws(FileError) in try PlatformCalls.status(of: path) }
        let isInWALMode: Bool
        do throws(SnapshotError) {
            isInWALMode = try StoreHandle(path).header()?.isInWALMode ?? false
        } catch {
            guard !error.isOfSystem else { throw error }
            return
        }
        if mayHaveOtherLog(path, status, isInWALMode: isInWALMode) { throw .severalNames(path) }
    }

    /// Whether the users of a store may keep its log or journal beside another name: that of a name that they do not use would have no
    /// frames, or not be there [sqlite.org/howtocorrupt.html section 2.5]. Nobody has a journal of a file that nobody may write, as
    /// generations and kept copies are.
    private static func mayHaveOtherLog(_ path: FilePath, _ status: FileStatus, isInWALMode: Bool) -> Bool {
        let sidecars = Sidecars(beside: path)
        let mayNobodyWrite = status.permissions.isDisjoint(with: [.ownerWrite, .groupWrite, .otherWrite])
        let isKnown = isInWALMode ? sidecars.logHasFrames : sidecars.hasJournal || mayNobodyWrite
        guard !isKnown else { return false }
        guard status.links > 1 else { return MountPoints.contain(path) }
        // A restore that was killed leaves another name of its own.
        TemporaryFolder.sweep(path.removingLastComponent(), .besideResults)
        return ((try? PlatformCalls.status(of: path)) ?? status).links > 1 || MountPoints.contain(path)
    }

    /// Takes a consistent copy, checks it, and gathers the external files that it refers to.
    ///
    /// Everything goes into a private folder, which is removed with the copy, on an error, and when the task is cancelled.
    /// Nothing is left beside the store. In one rare case SQLite's index file (`-shm`) stays there: where the store has a
    /// log with content and no index, and this process may write to the folder but not to the store.
    ///
    /// - Parameters:
    ///   - allowsMissingExternalFiles: Whether to leave out an external file that is missing, and say so in the manifest.
    ///   - inCanonicalForm: Whether the copy, to be shipped or kept, comes in canonical form, with the content of each table. One that
    ///     stays here for a while need not: as `VACUUM INTO` left it, without the content of its tables, it takes less time.
    ///   - takesDamaged: Whether a copy is taken that fails SQLite's check, as far as SQLite can read the store: `CompactCopy.damage`
    ///     says so.
    ///   - turn: Runs the step after which it is settled which state of the store the copy is of.
    package func compactCopy(
        in temporaryParent: FilePath = TemporaryFolder.defaultParent, _ profile: CopyProfile = CopyProfile(),
        allowsMissingExternalFiles: Bool = false, inCanonicalForm: Bool = true,
        marking: OmissionMarking = .asFound, takesDamaged: Bool = false, turn: SnapshotTurn = .free
    ) async throws(SnapshotError) -> CompactCopy {
        let folder = try SnapshotError.writing { () throws(FileError) in try TemporaryFolder(in: temporaryParent) }
        let place = folder.path
        let (attempt, proven, state) = try await Interruption.run {
            (interruption) throws(SnapshotError) -> (CopyAttempt, CopyAttempt.Proven, StoreState?) in
            // If the state before and after the copy is the same, it is the state of the copy.
            let (attempt, state) = try whileUnchanged(interruption) { () throws(SnapshotError) in
                try CopyAttempt.complete(
                    of: path, in: place, profile, inCanonicalForm: inCanonicalForm,
                    allowsMissingExternalFiles: allowsMissingExternalFiles, marking: marking,
                    watch: watch(interruption, turn))
            }
            return (attempt, try attempt.proven(interruption, digests, takingDamaged: takesDamaged), state)
        }
        return CompactCopy(
            folder: folder, path: attempt.path, facts: StoreFacts(attempt.content, sha256: proven.sha256),
            identity: attempt.content.coreData?.identity, coreData: attempt.content.coreData?.facts,
            externalFiles: zip(attempt.gathered, proven.files).map { gathered, digest in
                (ExternalFile(name: gathered.name, size: gathered.size, sha256: digest), gathered.path)
            },
            missingExternalFiles: attempt.missing.map(\.name), omissions: attempt.omissions,
            damage: proven.damage, canonical: attempt.canonical,
            tables: proven.tables, metadata: attempt.content.metadata,
            sqliteVersion: ForeignText(String(cString: sqlite3_libversion())), state: state)
    }

    func watch(_ interruption: Interruption, _ turn: SnapshotTurn = .free) -> ConnectionWatch {
        ConnectionWatch(
            interruption: interruption, busyTimeout: busyTimeout, held: held, keptFree: keptFree,
            earlierCopy: earlierCopy, turn: turn)
    }
}

extension StoreFacts {
    fileprivate init(_ content: CopyContent, sha256: ContentDigest) {
        self.init(
            size: content.size, sha256: sha256, pageSize: content.pageSize, pageCount: content.pageCount,
            textEncoding: content.textEncoding, applicationID: content.applicationID,
            userVersion: content.userVersion, schemaSHA256: content.schemaSHA256)
    }
}
