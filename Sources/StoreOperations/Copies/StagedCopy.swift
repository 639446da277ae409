import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// The folder of a kept copy while it is being filled, out of sight.
struct StagedCopy {
    let path: FilePath
    let manifest: Manifest

    init(in path: FilePath, manifest: Manifest) {
        self.path = path
        self.manifest = manifest
    }

    /// Puts everything in but the record, read-only, and syncs it; the folder itself is synced with the record.
    ///
    /// - Parameter held: Files of other kept copies, which never change.
    func fill(store: FilePath, files: [FileAtHand], held: [Manifest.Part: FilePath]) throws(FileError) {
        try PlatformCalls.makeFolder(path)
        let support = path.appending(InboxLayout.supportFolder(manifest.name))
        let folders = Set(manifest.externalFiles.map(\.name.folder)).map { support.appending($0.rawValue) }
        for folder in folders { try Folder.make(folder) }
        for (index, part) in manifest.parts.enumerated() {
            let target = path.appending(Generation.relativePath(ofPart: index, of: manifest).components)
            if let sibling = held[part], Self.link(sibling, as: target, size: part.size) { continue }
            if index == 0 {
                try DurableCopy.take(store, as: target, mode: .ownerRead)
            } else {
                // External files may be the live store's own: these are never shared with a copy.
                try DurableCopy.make(of: files[index - 1].path, at: target, mode: .ownerRead)
            }
        }
        let manifestPath = path.appending(InboxLayout.manifestFile)
        let file = try OpenFile.creating(manifestPath)
        try file.write(MessageCoding.encode(manifest))
        try PlatformCalls.changeMode(of: manifestPath, to: .ownerRead)
        try file.sync()
        for folder in folders { try Folder.sync(folder) }
        if !folders.isEmpty { try Folder.sync(support) }
    }

    /// The last that goes in.
    func add(_ record: CopyRecord) throws(FileError) {
        try record.write(in: path)
        try Folder.sync(path)
    }

    private static func link(_ sibling: FilePath, as target: FilePath, size: Int64) -> Bool {
        guard let status = try? PlatformCalls.status(of: sibling), status.kind == .file, status.size == size else {
            return false
        }
        return (try? PlatformCalls.hardLink(sibling, as: target)) != nil
    }
}
