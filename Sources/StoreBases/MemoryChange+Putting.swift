import EssentialFoundation
import ShipProtocol
import StoreFiles
import SystemPackage

extension MemoryChange {
    /// Lists the files, then puts them in their place, then removes what they stand for no more.
    ///
    /// - Parameters:
    ///   - offer: `nil` if the copy is here already.
    ///   - files: External files; those that have gone meanwhile are left out.
    ///   - stream: Of a shipment that begins; then nothing goes for it that was acknowledged.
    mutating func put(
        _ entry: BaseMemory.Entry, _ offer: BaseMemory.Offer?, stream: BaseMemory.NewStream? = nil,
        files: [BaseMemory.FileOffer] = [], in place: FilePath, budget: Int64
    ) throws(BaseMemoryError) -> Remembering {
        let before = index
        var moves: [Move] = []
        /// Equal files are kept once.
        func object(_ sha256: ContentDigest, _ size: Int64, from offer: BaseMemory.Offer?) -> String? {
            if let known = before.objects.first(where: { $0.sha256 == sha256 && $0.size == size }) { return known.id }
            guard let offer else { return nil }
            let object = BaseIndex.Object(id: UUID().uuidString, sha256: sha256, size: size, inode: offer.inode)
            index.list(object)
            moves.append(Move(source: offer.path, target: path(of: object), isShared: stream != nil && offer.isInUse))
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
        if let stream {
            index.list(stream.listed)
            moves.append(Move(source: stream.path, target: path(of: stream.listed), isShared: false))
        }
        let new = BaseIndex.Entry(
            entry.key, receiver: entry.receiver, copy: copy, manifest: manifest,
            files: files.compactMap { object($0.part.sha256, $0.part.size, from: $0.offer) }, state: entry.state,
            stream: stream?.listed.id, at: Timestamp(Date()))
        index.put(new)
        let (free, reserve) = try space()
        let fitting = index.evicting(stream == nil ? .all : .unfinished, except: new) { index in
            let files = index.files
            return index.size <= budget && index.entries.count <= BaseIndex.mostEntries
                && files.count <= BaseIndex.mostFiles && files.size <= budget / BaseIndex.fileShare
                && free + index.unusedSize >= reserve
        }
        guard let fitting else {
            index = before
            if stream == nil { _ = try makeRoom(for: 0) }
            return .declined(.noRoom)
        }
        return try go(to: fitting, from: before, moves)
    }

    private mutating func go(
        to new: BaseIndex, from before: BaseIndex, _ moves: [Move]
    ) throws(BaseMemoryError) -> Remembering {
        index = new
        do throws(BaseMemoryError) {
            try BaseMemoryError.wrapping { () throws(FileError) in try folder.makeFolder(at: objectFolder) }
            try save()
            for move in moves { try take(move) }
        } catch {
            // What has got its place already is listed, and goes.
            index = before
            for object in new.objects where before.object(object.id) == nil { index.list(object) }
            for stream in new.streams where before.stream(stream.id) == nil { index.list(stream) }
            removeUnused()
            try? save()
            throw error
        }
        removeUnused()
        return .remembered
    }

    /// A file that gets its place.
    private struct Move {
        let source: FilePath
        let target: FilePath
        /// Whether it has to keep its own name, too.
        let isShared: Bool
    }

    private func take(_ move: Move) throws(BaseMemoryError) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            do throws(FileError) {
                try PlatformCalls.hardLink(move.source, as: move.target)
            } catch {
                // There are file systems without second names.
                guard !move.isShared,
                    [.notPermitted, .notSupported, .noFunction, .tooManyLinks].contains(error.errno)
                else {
                    throw error
                }
                try PlatformCalls.rename(move.source, to: move.target)
            }
        }
    }

    private static func write(_ bytes: [UInt8], to path: FilePath) throws(BaseMemoryError) -> BaseMemory.Offer {
        try BaseMemoryError.wrapping { () throws(FileError) in
            let file = try OpenFile.creating(path)
            try file.write(bytes)
            return BaseMemory.Offer(path: path, inode: try file.status.inode, isInUse: false)
        }
    }
}
