public import ShipProtocol
import StoreFiles
import StoreOperations
public import SystemPackage

/// A compact copy of a live store in a folder of its own, which is removed with this object, or by `delete`.
///
/// An app can open it as a store: its external files are where Core Data looks for them. They may be the live store's own
/// files under a second name: read them, and do not write to them.
public final class TemporaryCopy: Sendable {
    /// Of the copy: `<basename>-<yyyyMMddTHHmmss>.sqlite`, UTC.
    public let path: FilePath
    /// The manifest that a consumer would get with it.
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
        try ShipmentError.wrapping { try Folder.removeTree(at: folder.path) }
    }
}
