import EssentialFoundation
import ShipProtocol
import Synchronization
import SystemPackage

/// What is remembered, and in which files: `index.json` in the memory's folder.
///
/// A file is ours because it is listed here, under its name and with its inode or its digest, before it is there. So a crash at any
/// point leaves a file that is listed, or none; and what is not listed is left alone.
struct BaseIndex: Hashable, Sendable, Codable {
    /// Of the form of this file.
    private(set) var version = Self.version
    /// The highest number of a use; it rises from one to the next, whatever the clock says.
    private(set) var lastUse: Int64 = 0
    private(set) var objects: [Object] = []
    private(set) var streams: [Stream] = []
    private(set) var entries: [Entry] = []

    static let version = 2
    /// Largest index that is read, in bytes.
    static let sizeLimit: Int64 = 16 * 1024 * 1024
    /// Most copies that are remembered, whatever their size.
    static let mostEntries = 256
    /// Most external files that are remembered, and which part of the budget they have at most: one of so many.
    static let mostFiles = 512
    static let fileShare: Int64 = 4
    /// Longest text that names a receiver, and longest path of a store, in bytes of UTF-8.
    static let receiverLength = 1024
    static let pathLength = 4096

    /// A file: a copy, an external file of it, or the manifest that was acknowledged with it.
    struct Object: Hashable, Sendable, Codable {
        /// Its name: a UUID.
        let id: String
        let sha256: ContentDigest
        /// In bytes.
        let size: Int64
        /// Of the file as it was put there.
        let inode: UInt64
    }

    /// A file that grows while a shipment is sent: what has gone of a part.
    struct Stream: Hashable, Sendable, Codable {
        /// Its name, among the objects: a UUID.
        let id: String
        let inode: UInt64
        /// Bytes that it may come to, while somebody writes it; else those that it has.
        fileprivate(set) var room: Int64
    }

    /// One receiver's newest acknowledged copy of one store, or the one of which a shipment is not finished.
    struct Entry: Hashable, Sendable, Codable {
        let name: StoreName
        private(set) var store: String
        let profile: ContentDigest
        let receiver: String
        /// The objects.
        private(set) var copy: String
        private(set) var manifest: String
        /// Of external files that came with it; the first to go stands last. `nil` for none.
        fileprivate(set) var files: [String]?
        let state: Data?
        /// What has gone of it, if its shipment is not finished.
        let stream: String?
        let rememberedAt: Timestamp
        fileprivate(set) var use: Int64

        init(
            _ key: BaseKey, receiver: String, copy: String, manifest: String, files: [String], state: [UInt8]?,
            stream: String? = nil, at time: Timestamp
        ) {
            name = key.name
            store = key.store.string
            profile = key.profile
            self.receiver = receiver
            self.copy = copy
            self.manifest = manifest
            self.files = files.isEmpty ? nil : files
            self.state = state.map { Data($0) }
            self.stream = stream
            rememberedAt = time
            use = 0
        }

        var key: BaseKey { BaseKey(name: name, store: FilePath(store), profile: profile) }

        /// Whether one takes the place of the other.
        func isOfSame(as other: Entry) -> Bool {
            key == other.key && receiver == other.receiver && isUnfinished == other.isUnfinished
        }

        var isUnfinished: Bool { stream != nil }

        fileprivate mutating func move(to path: FilePath) { store = path.string }
    }

    // MARK: What is there

    func object(_ id: String) -> Object? { objects.first { $0.id == id } }

    func stream(_ id: String) -> Stream? { streams.first { $0.id == id } }

    /// Files that no entry needs any more.
    var unused: [Object] {
        let used = Set(entries.flatMap { [$0.copy, $0.manifest] + ($0.files ?? []) })
        return objects.filter { !used.contains($0.id) }
    }

    var unusedStreams: [Stream] {
        let used = Set(entries.compactMap(\.stream))
        return streams.filter { !used.contains($0.id) }
    }

    /// Bytes of all files that entries need, or may come to need.
    var size: Int64 {
        let used = Set(entries.compactMap(\.stream))
        return objects.reduce(0) { $0 + $1.size } - unusedSize
            + streams.reduce(0) { $0 + (used.contains($1.id) ? $1.room : 0) }
    }

    /// How many external files entries need, and their bytes.
    var files: (count: Int, size: Int64) {
        let used = Set(entries.flatMap { $0.files ?? [] })
        return (used.count, objects.reduce(0) { $0 + (used.contains($1.id) ? $1.size : 0) })
    }

    /// Bytes of all others.
    var unusedSize: Int64 { unused.reduce(0) { $0 + $1.size } }

    var isEmpty: Bool { objects.isEmpty && streams.isEmpty && entries.isEmpty }

    // MARK: What changes

    mutating func list(_ object: Object) { objects.append(object) }

    mutating func list(_ stream: Stream) { streams.append(stream) }

    /// Whatever became of the file: nothing builds on it any more.
    mutating func drop(_ object: Object) {
        objects.removeAll { $0.id == object.id }
        entries.removeAll { $0.copy == object.id || $0.manifest == object.id }
        for place in entries.indices { entries[place].files?.removeAll { $0 == object.id } }
    }

    mutating func drop(_ stream: Stream) {
        streams.removeAll { $0.id == stream.id }
        entries.removeAll { $0.stream == stream.id }
    }

    /// - Parameter room: In bytes.
    mutating func give(_ room: Int64, to stream: Stream) {
        if let place = streams.firstIndex(where: { $0.id == stream.id }) { streams[place].room = room }
    }

    /// An entry takes the place of the one of the same key and receiver, and is the one that was used last.
    mutating func put(_ entry: Entry) {
        var entry = entry
        entry.use = nextUse()
        entries.removeAll { $0.isOfSame(as: entry) }
        entries.append(entry)
    }

    /// - Returns: Whether anything changed: the one that was used last stays so.
    mutating func use(_ entry: Entry) -> Bool {
        guard let place = entries.firstIndex(where: { $0.isOfSame(as: entry) }), entries[place].use != lastUse else {
            return false
        }
        entries[place].use = nextUse()
        return true
    }

    private mutating func nextUse() -> Int64 {
        // Nothing counts so far; an index that was tampered with may say so.
        lastUse = lastUse == .max ? lastUse : lastUse + 1
        return lastUse
    }

    /// - Returns: Those that went.
    mutating func remove(where isToGo: (Entry) -> Bool) -> [Entry] {
        let going = entries.filter(isToGo)
        entries.removeAll(where: isToGo)
        return going
    }

    /// What was of a store at one path is of the store at another; what was there before gives way.
    ///
    /// - Returns: Whether anything changed.
    mutating func move(from source: FilePath, to target: FilePath) -> Bool {
        let moving = entries.filter { FilePath($0.store) == source }
        guard !moving.isEmpty, source != target else { return false }
        entries.removeAll { FilePath($0.store) == source }
        for var entry in moving {
            entry.move(to: target)
            entries.removeAll { $0.isOfSame(as: entry) }
            entries.append(entry)
        }
        return true
    }

    /// Lets go of external files, then of shipments that are not finished, then of what was used longest ago, until enough is gone.
    ///
    /// - Parameters:
    ///   - candidates: What may go.
    ///   - kept: Never goes.
    ///   - isEnough: Is given the index as it is then.
    /// - Returns: `nil` if it is not enough that all others go.
    func evicting(
        _ candidates: Candidates = .all, except kept: Entry?, until isEnough: (BaseIndex) -> Bool
    ) -> BaseIndex? {
        var index = self
        while !isEnough(index) {
            if candidates == .all, index.dropFiles(last: kept) { continue }
            let others = index.entries.filter { entry in
                (candidates == .all || entry.isUnfinished) && kept.map { !entry.isOfSame(as: $0) } ?? true
            }
            let next = others.min { ($0.isUnfinished ? 0 : 1, $0.use) < ($1.isUnfinished ? 0 : 1, $1.use) }
            guard let oldest = next else { return nil }
            _ = index.remove { $0.isOfSame(as: oldest) }
        }
        return index
    }

    /// Of the copy that was used longest ago the external files go, and of the one that stays the last one of them.
    ///
    /// - Returns: Whether there were any.
    private mutating func dropFiles(last kept: Entry?) -> Bool {
        let all = entries.indices.filter { entries[$0].files?.isEmpty == false }
        let others = all.filter { place in kept.map { !entries[place].isOfSame(as: $0) } ?? true }
        if let oldest = others.min(by: { entries[$0].use < entries[$1].use }) {
            entries[oldest].files = nil
        } else if let place = all.first {
            entries[place].files?.removeLast()
        }
        return !all.isEmpty
    }

    enum Candidates: Hashable, Sendable {
        case all
        /// What was acknowledged stays.
        case unfinished
    }

    // MARK: Its bytes

    /// Why bytes are no index, in words.
    struct Flaw: Error, Hashable { let words: String }

    init() {}

    init(decoding bytes: [UInt8]) throws(Flaw) {
        do {
            let head = try JSONDecoder().decode(Head.self, from: Data(bytes))
            switch head.version {
            case Self.version: self = try JSONDecoder().decode(BaseIndex.self, from: Data(bytes))
            case 1:
                // Nothing builds on what an earlier version has remembered: its files go.
                self.init()
                objects = try JSONDecoder().decode(Former.self, from: Data(bytes)).objects
            default: throw Flaw(words: "another version of this program wrote it")
            }
        } catch let flaw as Flaw {
            throw flaw
        } catch {
            throw Flaw(words: "it is no record of remembered copies")
        }
        if let words = firstFlaw { throw Flaw(words: words) }
    }

    /// What was read or written last: a session of many stores reads the same several times for each.
    private static let last = Mutex<(bytes: [UInt8], index: BaseIndex)?>(nil)

    /// What bytes say.
    static func reading(_ bytes: [UInt8]) throws(Flaw) -> BaseIndex {
        if let last = last.withLock({ $0 }), last.bytes == bytes { return last.index }
        let index = try BaseIndex(decoding: bytes)
        index.isWritten(as: bytes)
        return index
    }

    /// The file has these bytes.
    func isWritten(as bytes: [UInt8]) {
        guard firstFlaw == nil else { return }
        Self.last.withLock { $0 = (bytes, self) }
    }

    private struct Head: Decodable { let version: Int }

    /// What all versions have in common.
    private struct Former: Decodable { let objects: [Object] }

    var encoded: [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map(Array.init)
    }

    private var firstFlaw: String? {
        let (ids, streamIDs) = (Set(objects.map(\.id)), Set(streams.map(\.id)))
        guard ids.union(streamIDs).count == objects.count + streams.count else { return "it lists a file twice" }
        // A name from here becomes a path.
        guard ids.union(streamIDs).allSatisfy({ UUID(uuidString: $0) != nil }) else {
            return "a file has a name that was not given here"
        }
        guard objects.allSatisfy({ (0...Limits.partSize).contains($0.size) }), lastUse >= 0,
            streams.allSatisfy({ (0...Limits.partSize).contains($0.room) })
        else {
            return "a number is out of range"
        }
        guard entries.count <= Self.mostEntries, objects.count <= 4 * Self.mostEntries + 2 * Self.mostFiles,
            streams.count <= 2 * Self.mostEntries
        else {
            return "it lists too much"
        }
        for entry in entries {
            guard ids.contains(entry.copy), ids.contains(entry.manifest),
                entry.files.map({ $0.count <= Self.mostFiles && $0.allSatisfy(ids.contains) }) ?? true,
                entry.stream.map({ streamIDs.contains($0) }) ?? true
            else { return "a copy has no file" }
            guard (0...lastUse).contains(entry.use), entry.state.map({ $0.count <= BaseMemory.stateLimit }) ?? true,
                entry.store.utf8.count <= Self.pathLength, FilePath(entry.store).isAbsolute,
                entry.receiver.utf8.count <= Self.receiverLength
            else { return "a copy is described as none can be" }
        }
        return nil
    }
}
