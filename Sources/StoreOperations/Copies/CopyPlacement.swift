package import ShipProtocol
package import StoreFiles
import StoreInbox
package import SystemPackage

/// Puts a compact copy and its external files into a folder, durably, under a name that nothing has there: either all of it
/// is there afterwards, or nothing.
package struct CopyPlacement: Sendable {
    private let folder: FilePath
    private let name: String

    /// - Parameters:
    ///   - folder: Made if it is not there.
    ///   - name: Without extension; the copy becomes `<name>.sqlite`, its support folder `.<name>_SUPPORT`. Where one of
    ///     the two is taken it is `<name>-2`, and so on.
    package init(in folder: FilePath, name: String) {
        self.folder = folder
        self.name = name
    }

    /// Where the parts of a copy go.
    private struct Place {
        let store: FilePath
        let support: FilePath

        init(_ name: String, in folder: FilePath) {
            store = folder.appending(name + ".sqlite")
            support = folder.appending(".\(name)_SUPPORT")
        }

        /// Whether anything has one of the names, external files without their store included: they are somebody's.
        var isTaken: Bool { [store, support].contains { (try? PlatformCalls.status(of: $0)) != nil } }
    }

    /// - Returns: Where the copy is.
    package func place(
        store: FilePath, externalFiles: [(name: ExternalFileName, path: FilePath)]
    ) throws(FileError) -> FilePath {
        try Folder.make(folder)
        let temporary = try TemporaryFolder(in: folder, .besideResults)
        let staging = temporary.path
        let stagedStore = staging.appending("store")
        try DurableCopy.make(of: store, at: stagedStore)
        let stagedSupport = externalFiles.isEmpty ? nil : staging.appending("support")
        if let stagedSupport {
            let subfolders = Set(externalFiles.map(\.name.folder)).map { stagedSupport.appending($0.rawValue) }
            for subfolder in subfolders { try Folder.make(subfolder) }
            for file in externalFiles {
                try DurableCopy.make(
                    of: file.path, at: stagedSupport.appending(FilePath(file.name.relativePath).components))
            }
            for subfolder in subfolders { try Folder.sync(subfolder) }
            try Folder.sync(stagedSupport)
        }
        // Another command that finds the files waits until the store is there which refers to them (`SupportFolderLock`).
        // A lock goes with its folder, whatever that is called. Where there are no locks, nobody waits.
        let lock: FolderLock? =
            if let stagedSupport { try? FolderLock.take(.exclusive, on: stagedSupport) } else { nil }
        defer { withExtendedLifetime(lock) {} }
        var ordinal = 1
        while true {
            let place = Place(ordinal == 1 ? name : "\(name)-\(ordinal)", in: folder)
            if !place.isTaken, try install(stagedStore, stagedSupport, at: place) { return place.store }
            ordinal += 1
        }
    }

    /// The files come before the store that refers to them.
    ///
    /// - Returns: Whether nobody was quicker to take one of the names.
    private func install(
        _ stagedStore: FilePath, _ stagedSupport: FilePath?, at place: Place
    ) throws(FileError) -> Bool {
        if let stagedSupport {
            let isOurs = try claim { () throws(FileError) in
                try PlatformCalls.renameFolder(stagedSupport, toFree: place.support)
            }
            guard isOurs else { return false }
        }
        do throws(FileError) {
            if try claim({ () throws(FileError) in try Self.give(stagedStore, as: place.store) }) {
                try Folder.sync(folder)
                return true
            }
        } catch {
            if error.operation == .sync { try? PlatformCalls.removeFile(place.store) }
            takeBack(stagedSupport, from: place)
            throw error
        }
        takeBack(stagedSupport, from: place)
        return false
    }

    private func takeBack(_ stagedSupport: FilePath?, from place: Place) {
        if let stagedSupport { try? PlatformCalls.rename(place.support, to: stagedSupport) }
    }

    /// - Returns: Whether the name was free.
    private func claim(_ take: () throws(FileError) -> Void) throws(FileError) -> Bool {
        do throws(FileError) {
            try take()
            return true
        } catch {
            guard error.errno == .fileExists else { throw error }
            return false
        }
    }

    /// A second name is never made over something else. Where a file system has none, a look before the rename has to do.
    private static func give(_ staged: FilePath, as target: FilePath) throws(FileError) {
        do throws(FileError) {
            try PlatformCalls.hardLink(staged, as: target)
        } catch {
            guard [.notPermitted, .notSupported].contains(error.errno) else { throw error }
            guard (try? PlatformCalls.status(of: target)) == nil else { throw FileError(.link, target, .fileExists) }
            try PlatformCalls.rename(staged, to: target)
        }
    }
}

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
