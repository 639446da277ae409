import FoundationEssentials
import ShipProtocol
import StoreFiles
import SystemPackage

extension MemoryChange {
    /// Lists the files, then puts them in their place, then removes what they stand for no more.
    ///
    /// - Parameter offer: `nil` if the copy is here already.
    mutating func put(
        _ entry: BaseMemory.Entry, _ offer: BaseMemory.Offer?, in place: FilePath, budget: Int64
    ) throws(BaseMemoryError) -> Remembering {
        let before = index
        var moves: [(source: FilePath, object: BaseIndex.Object)] = []
        /// Equal files are kept once.
        func object(_ sha256: ContentDigest, _ size: Int64, from offer: BaseMemory.Offer?) -> String? {
            if let known = before.objects.first(where: { $0.sha256 == sha256 && $0.size == size }) { return known.id }
            guard let offer else { return nil }
            let object = BaseIndex.Object(id: UUID().uuidString, sha256: sha256, size: size, inode: offer.inode)
            index.list(object)
            moves.append((offer.path, object))
            return object.id
        }
        let store = entry.manifest.store
        let words = try Self.write(entry.words, to: place.appending("manifest"))
        guard let copy = object(store.sha256, store.size, from: offer),
            let manifest = object(ContentDigest(hashing: entry.words), Int64(entry.words.count), from: words)
        else {
            // The copy that was here has gone meanwhile.
            index = before
            return .failed(.file(FileError(.link, folder.path, .noSuchFileOrDirectory)))
        }
        let new = BaseIndex.Entry(
            entry.key, receiver: entry.receiver, copy: copy, manifest: manifest, state: entry.state,
            at: Timestamp(Date()))
        index.put(new)
        let (free, reserve) = try space()
        let fitting = index.evicting(except: new) { index in
            index.size <= budget && index.entries.count <= BaseIndex.mostEntries
                && free + index.unusedSize >= reserve
        }
        guard let fitting else {
            index = before
            _ = try makeRoom(for: 0)
            return .declined(.noRoom)
        }
        return try go(to: fitting, from: before, moves)
    }

    private mutating func go(
        to new: BaseIndex, from before: BaseIndex, _ moves: [(source: FilePath, object: BaseIndex.Object)]
    ) throws(BaseMemoryError) -> Remembering {
        index = new
        do throws(BaseMemoryError) {
            try BaseMemoryError.wrapping { () throws(FileError) in try folder.makeFolder(at: objectFolder) }
            try save()
            for move in moves { try take(move.source, as: path(of: move.object)) }
        } catch {
            // What has got its place already is listed, and goes.
            index = before
            for move in moves { index.list(move.object) }
            removeUnused()
            try? save()
            throw error
        }
        removeUnused()
        return .remembered
    }

    private func take(_ source: FilePath, as target: FilePath) throws(BaseMemoryError) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            do throws(FileError) {
                try PlatformCalls.hardLink(source, as: target)
            } catch {
                // There are file systems without second names.
                guard [.notPermitted, .notSupported, .noFunction, .tooManyLinks].contains(error.errno) else {
                    throw error
                }
                try PlatformCalls.rename(source, to: target)
            }
        }
    }

    private static func write(_ bytes: [UInt8], to path: FilePath) throws(BaseMemoryError) -> BaseMemory.Offer {
        try BaseMemoryError.wrapping { () throws(FileError) in
            let file = try OpenFile.creating(path)
            try file.write(bytes)
            return BaseMemory.Offer(path: path, inode: try file.status.inode)
        }
    }
}
