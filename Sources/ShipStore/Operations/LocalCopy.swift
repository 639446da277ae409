public import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
public import SystemPackage

/// A compact copy of a live store on the same device, in a folder of the user's: `copy`.
public struct LocalCopy: Hashable, Sendable {
    public let path: FilePath
    /// What a consumer would be told of it.
    public let manifest: Manifest
    /// What SQLite's check of it complains of first; `nil` for a sound copy.
    public let damage: ForeignText?

    /// The paths of its external files, in the order of the manifest.
    public var externalFiles: [FilePath] {
        let support = StoreHome(path).supportFolder
        return manifest.externalFiles.map { support.path(of: $0.name) }
    }

    /// Takes the copy, and puts it into `folder`, durably and in one step, as `<basename>-<yyyyMMddTHHmmss>.sqlite` (UTC),
    /// with `-2` and so on before the extension if there is such a file already; the source is left alone.
    public static func take(
        of store: FilePath, into folder: FilePath, options: CopyOptions = CopyOptions()
    ) async throws(ShipmentError) -> LocalCopy {
        do {
            let prepared = try await PreparedCopy(of: store, options.markingOmissions)
            let baseName = store.stemText
            let space = try DiskReservation.make(
                prepared.manifest.totalSize, in: folder, leaving: options.keptFree)
            defer { withExtendedLifetime(space) {} }
            let placement = CopyPlacement(in: folder, name: "\(baseName)-\(prepared.manifest.createdAt.compactText)")
            let path = try placement.place(
                store: prepared.copy.path,
                externalFiles: prepared.copy.externalFiles.map { ($0.file.name, $0.path) })
            return LocalCopy(path: path, manifest: prepared.manifest, damage: prepared.copy.damage)
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Takes the copy, and puts it into `folder` under the given name, in place of an older copy of the same store if there is
    /// one. A program that opens the path finds one or the other, complete.
    ///
    /// - Throws: `.operation(.occupied)` if something else is there, `.operation(.sidecar)` if a program writes to it,
    ///   `.operation(.supportFolderBusy)` while another operation is at work on the external files there.
    public static func take(
        of store: FilePath, into folder: FilePath, as name: CopyFileName, options: CopyOptions = CopyOptions()
    ) async throws(ShipmentError) -> LocalCopy {
        try await LocalStore.run(waiting: options.busyTimeout) { busyHandler in
            let home = StoreHome(folder.appending(text: name.text))
            let real = NamedStore(home.path)
            try real.home.refuseIfKept(.replace)
            if let source = try? StoreHome(resolving: store), source == (try? StoreHome(resolving: home.path)) {
                throw OperationError.sameStore(home.path)
            }
            let prepared = try await PreparedCopy(of: store, options.markingOmissions)
            let size = DiskReservation.sizeToPlace(prepared.manifest, prepared.copy.path, in: folder)
            let space = try DiskReservation.make(size, in: folder, leaving: options.keptFree)
            let lock = try SupportFolderLock.take(
                home.supportFolder, toPut: !prepared.files.isEmpty, busyHandler)
            defer { withExtendedLifetime((space, lock)) {} }
            // Another update may have been first.
            let older = try await olderCopy(at: home, of: prepared.manifest)
            // An update may have been killed before it removed the older copy's files.
            if let older {
                _ = try await RemovalSession(named: NamedStore(home.path), supportLock: lock, busyHandler: busyHandler)
                    .finishKilled(besides: .store(older.files, isCoreData: true))
            }
            let claims = await SupportFolderClaims(beside: home, waiting: options.busyTimeout, under: lock)
            try busyHandler.check()
            let attributes = try older.map { _ throws in try FileAttributes(of: home.path) }
            try StorePlacement(at: home, over: older, attributes: attributes)
                .place(prepared.manifest, store: prepared.copy.path, files: prepared.files, beside: claims)
            return LocalCopy(path: home.path, manifest: prepared.manifest, damage: prepared.copy.damage)
        }
    }

    /// An equal identity proves that a file is an older copy of the same store; without identities, equal schemas do.
    ///
    /// - Returns: The older copy, and the external files that its rows refer to; `nil` if nothing is there.
    private static func olderCopy(
        at home: StoreHome, of copy: Manifest
    ) async throws -> (identity: FileStatus.Identity, files: Set<ExternalFileName>)? {
        guard let status = try? PlatformCalls.status(of: home.path) else { return nil }
        guard status.kind == .file, let survey = try? await SourceStore(at: home.path).survey(),
            survey.identity == copy.identity,
            survey.identity != nil || survey.schemaSHA256 == copy.store.schemaSHA256
        else { throw OperationError.occupied(home.path) }
        return (status.identity, survey.externalFiles)
    }
}

/// The name of a copy's file, as the user chose it: without a folder, and with an extension, `.sqlite` unless it has
/// another one.
public struct CopyFileName: Hashable, Sendable {
    public let text: String

    private static let sidecarEndings = ["-wal", "-shm", "-journal"]

    /// - Throws: `.operation(.badFileName)` for a path, a hidden file, and the name of a sidecar.
    public init(_ text: String) throws(ShipmentError) {
        let name = FilePath(text: text)
        guard let component = name.lastComponent, component.kind == .regular, name.components.count == 1,
            name.text == text,
            !text.hasPrefix("."), !Self.sidecarEndings.contains(where: { text.lowercased().hasSuffix($0) })
        else { throw .operation(.badFileName(text)) }
        self.text = component.extension == nil ? text + ".sqlite" : text
    }
}

/// A compact copy of a live store in a folder of its own, which is removed with this object, or by `delete`.
///
/// An app can open it as a store: its external files are where Core Data looks for them. They may be the live store's own
/// files under a second name: read them, and do not write to them.
public final class TemporaryCopy: Sendable {
    /// Of the copy: `<basename>-<yyyyMMddTHHmmss>.sqlite`, UTC.
    public let path: FilePath
    /// What a consumer would be told of it.
    public let manifest: Manifest
    /// Where its external files are, in the order of the manifest.
    public let externalFiles: [FilePath]

    private let folder: TemporaryFolder

    /// Takes a copy; the source is left alone.
    public static func take(
        of store: FilePath, options: CopyOptions = CopyOptions()
    ) async throws(ShipmentError) -> TemporaryCopy {
        try await LocalStore.run(waiting: options.busyTimeout) { _ in try await TemporaryCopy(of: store, options) }
    }

    /// Takes copies of several stores, one after the other, each of one committed state: all of them, or none.
    public static func take(
        of stores: [FilePath], options: CopyOptions = CopyOptions()
    ) async throws(ShipmentError) -> [TemporaryCopy] {
        var copies: [TemporaryCopy] = []
        for store in stores { copies.append(try await take(of: store, options: options)) }
        return copies
    }

    private init(of store: FilePath, _ options: CopyOptions) async throws {
        let folder = try TemporaryFolder(in: options.temporaryFolder)
        let copy = try await PreparedCopy(of: store, options.making(in: folder.path))
        let baseName = store.stemText
        let home = StoreHome(folder.path.appending(text: "\(baseName)-\(copy.manifest.createdAt.compactText).sqlite"))
        try PlatformCalls.rename(copy.copy.path, to: home.path)
        for file in copy.files {
            let target = home.supportFolder.path(of: file.file.name)
            try Folder.make(target.removingLastComponent())
            try PlatformCalls.rename(file.path, to: target)
        }
        path = home.path
        manifest = copy.manifest
        externalFiles = copy.files.map { home.supportFolder.path(of: $0.file.name) }
        self.folder = folder
    }

    /// Removes the copy and its folder now.
    ///
    /// - Throws: `.file`; files that are left then are removed with this object.
    public func delete() throws(ShipmentError) {
        do throws(FileError) {
            try Folder.removeTree(at: folder.path)
        } catch {
            throw .file(error)
        }
    }
}
