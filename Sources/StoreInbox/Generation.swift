package import EssentialFoundation
public import ShipProtocol
package import StoreFiles
public import SystemPackage

/// One installed shipment: a folder that never changes.
public struct Generation: Hashable, Sendable {
    /// From 1; a later shipment has a higher number.
    public let number: Int
    /// Its folder.
    public let path: FilePath
    public let manifest: Manifest

    package init(number: Int, path: FilePath, manifest: Manifest) {
        self.number = number
        self.path = path
        self.manifest = manifest
    }

    package var folderName: GenerationName { GenerationName(number: number, digest: manifest.store.sha256) }

    /// The store itself.
    public var storePath: FilePath { path.appending(InboxLayout.storeFile(manifest.name)) }

    /// Part number `index` of the shipment: 0 is the store.
    package func path(ofPart index: Int) -> FilePath {
        path.appending(Self.relativePath(ofPart: index, of: manifest).components)
    }

    /// Where a part goes in the folder of a generation.
    package static func relativePath(ofPart index: Int, of manifest: Manifest) -> FilePath {
        guard index > 0 else { return FilePath(InboxLayout.storeFile(manifest.name)) }
        return FilePath(InboxLayout.supportFolder(manifest.name))
            .appending(FilePath(manifest.externalFiles[index - 1].name.relativePath).components)
    }

    /// Reads every part again.
    ///
    /// - Throws: `.mismatch` for a size or digest that is not the manifest's, `.file`.
    package func compareWithManifest() throws(InboxError) {
        let folder = try InboxError.wrapping { () throws(FileError) in try OpenFolder(following: path) }
        for (index, part) in manifest.parts.enumerated() {
            let path = path(ofPart: index)
            let isWhole = try InboxError.wrapping { () throws(FileError) in
                let file = try folder.file(at: path)
                guard try file.size == part.size else { return false }
                return try ContentDigest(ofFile: file) == part.sha256
            }
            guard isWhole else { throw .mismatch(path) }
        }
    }

    /// Opens the folder of a generation, wherever it is.
    ///
    /// - Throws: `.badManifest`, `.file`.
    package init(at path: FilePath) throws(InboxError) {
        try self.init(in: InboxError.wrapping { () throws(FileError) in try OpenFolder(following: path) })
    }

    /// - Parameter folder: Of a generation.
    /// - Throws: `.badManifest`, `.file`.
    package init(in folder: borrowing OpenFolder) throws(InboxError) {
        let name = folder.path.lastComponent.flatMap { GenerationName($0.text) }
        self.init(number: name?.number ?? 0, path: folder.path, manifest: try Self.readManifest(in: folder))
    }

    private static func readManifest(in folder: borrowing OpenFolder) throws(InboxError) -> Manifest {
        let path = folder.path.appending(InboxLayout.manifestFile)
        do {
            let file = try folder.file(at: path)
            let size = try file.size
            guard size <= Limits.manifestSize else { throw InboxError.badManifest(path, flaw: "too large") }
            return try Manifest(decoding: try file.read(Int(size), at: 0))
        } catch let error as FileError {
            throw .file(error)
        } catch let error as InboxError {
            throw error
        } catch ProtocolError.badMessage(_, let flaw) {
            throw .badManifest(path, flaw: flaw)
        } catch {
            throw .badManifest(path, flaw: "not a manifest")
        }
    }
}

extension Generation {
    /// The manifest as its producer has signed it.
    ///
    /// - Parameter folder: Of the generation.
    /// - Returns: `nil` if it came without a signature.
    /// - Throws: `.badManifest` if what is there is not of this generation, `.file`.
    package func signedManifest(in folder: borrowing OpenFolder) throws(InboxError) -> SignedManifest? {
        let path = folder.path.appending(InboxLayout.signedFile)
        let bytes = try InboxError.wrapping { () throws(FileError) -> [UInt8]? in
            guard try folder.holds(path) else { return nil }
            let file = try folder.file(at: path)
            return try file.read(Int(clamping: min(try file.size, Int64(SignedManifest.longest))), at: 0)
        }
        guard let bytes else { return nil }
        guard let signed = try? SignedManifest(decoding: bytes), signed.manifest == manifest.over(nil) else {
            throw .badManifest(path, flaw: "it is not what was signed")
        }
        return signed
    }
}

extension Generation {
    /// When it was installed, by this device's clock: nothing has been put into its folder since.
    ///
    /// - Returns: `nil` if the folder is gone.
    package var installedAt: Date? {
        (try? PlatformCalls.status(of: path)).map { Date(timeIntervalSince1970: $0.modified / .seconds(1)) }
    }

    /// Whether a reader holds it, here or in another process, so that it is not pruned.
    ///
    /// To ask is to take the lock for an instant, and to give it back.
    ///
    /// - Returns: `nil` if that cannot be told.
    package var isHeld: Bool? {
        do throws(FileError) {
            return try FolderLock.takeSoon(.exclusive, on: path) == nil
        } catch {
            return nil
        }
    }
}
