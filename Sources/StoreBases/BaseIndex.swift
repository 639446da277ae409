import EssentialFoundation
import ShipProtocol
import SystemPackage

/// The index of remembered copies, and of their files: `index.json` in the memory's folder.
///
/// The index lists a file, under its name and with its inode or its digest, before the file is there. So a crash at any point leaves
/// no file that is not listed; and a file that is not listed belongs to others, and stays.
struct BaseIndex: Hashable, Sendable, Codable {
    /// The version of this file's format.
    private(set) var version = Self.version
    /// The highest number of a use. It rises with each use, whatever the clock says.
    private(set) var lastUse: Int64 = 0
    private(set) var objects: [Object] = []
    private(set) var streams: [Stream] = []
    private(set) var entries: [Entry] = []
    private(set) var sent: [SentStore] = []

    static let version = 1
    /// Largest index that is read, in bytes: some 50,000 copies. What is remembered has no other limit but room.
    static let sizeLimit: Int64 = 64 * 1024 * 1024
    /// Most bytes of all files together: far more than a disk has, and few enough to count with.
    private static let mostBytes: Int64 = 1 << 62
    /// Most external files that are remembered, and the share of the budget that they may take: one part in `fileShare`.
    static let mostFiles = 512
    static let fileShare: Int64 = 4
    /// Longest text that names a receiver, and longest path of a store, in bytes of UTF-8.
    static let receiverLength = 1024
    static let pathLength = 4096
    /// Longest state that is kept with a copy, in bytes.
    static let stateLimit = 4096

    /// A file: a copy, an external file of a copy, or the manifest that was acknowledged with a copy.
    struct Object: Hashable, Sendable, Codable {
        /// Its name: a UUID.
        let id: String
        let sha256: ContentDigest
        /// In bytes.
        let size: Int64
        /// The inode of the file as it was put there.
        let inode: UInt64
    }

    /// A file that grows while a shipment is sent: the data of a part that have been sent.
    struct Stream: Hashable, Sendable, Codable {
        /// Its name, among the objects: a UUID.
        let id: String
        let inode: UInt64
        /// Most bytes that it may have while a session writes it; after that, the bytes that it has.
        fileprivate(set) var room: Int64
    }

    /// One receiver's newest acknowledged copy of one store, or the copy of an unfinished shipment.
    struct Entry: Hashable, Sendable, Codable {
        let name: StoreName
        /// As in `PathText`.
        private(set) var store: String
        let profile: ContentDigest
        let receiver: String
        /// The ids of the objects.
        private(set) var copy: String
        private(set) var manifest: String
        /// The ids of the external files that are remembered with it; the first to go stands last. `nil` for none.
        fileprivate(set) var files: [String]?
        let state: Data?
        /// The id of its stream, if its shipment is not finished.
        let stream: String?
        let rememberedAt: Timestamp
        fileprivate(set) var use: Int64

        init(
            _ key: BaseKey, receiver: String, copy: String, manifest: String, files: [String], state: [UInt8]?,
            stream: String? = nil, at time: Timestamp
        ) {
            name = key.name
            store = key.store.text
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

        var key: BaseKey { BaseKey(name: name, store: FilePath(text: store), profile: profile) }

        /// Whether one takes the place of the other. Several may be pinned of one store.
        func isOfSame(as other: Entry) -> Bool {
            key == other.key && receiver == other.receiver && isUnfinished == other.isUnfinished
                && (!isPinned || copy == other.copy)
        }

        var isUnfinished: Bool { stream != nil }

        /// Whether it stays until the user removes it.
        var isPinned: Bool { receiver == BaseKey.everyReceiver }

        /// Whether a shipment of this kind may build on it. What was pinned is built on whatever is left out of the shipment.
        func isBase(for other: BaseKey) -> Bool {
            name == other.name && (key == other || isPinned && key.store == other.store)
        }

        /// Most bytes that it takes in the index.
        fileprivate var weight: Int {
            6 * (store.utf8.count + receiver.utf8.count) + 40 * (files?.count ?? 0) + 2 * (state?.count ?? 0) + 768
        }

        fileprivate mutating func move(to path: FilePath) { store = path.text }
    }

    // MARK: What is there

    func object(_ id: String) -> Object? { objects.first { $0.id == id } }

    func stream(_ id: String) -> Stream? { streams.first { $0.id == id } }

    /// Objects that no entry needs any more.
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

    /// Bytes of all objects that no entry needs.
    var unusedSize: Int64 { unused.reduce(0) { $0 + $1.size } }

    var isEmpty: Bool { objects.isEmpty && streams.isEmpty && entries.isEmpty && sent.isEmpty }

    /// Whether the index itself stays within its limit.
    var fits: Bool {
        let weight = entries.reduce(sent.reduce(0) { $0 + $1.weight }) { $0 + $1.weight }
        return weight + 256 * (objects.count + streams.count) <= Self.sizeLimit
    }

    // MARK: What changes

    mutating func list(_ object: Object) { objects.append(object) }

    mutating func list(_ stream: Stream) { streams.append(stream) }

    /// Removes an object, and every entry that cannot do without it.
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

    /// Adds an entry in place of the one of the same key and receiver. It counts as used last.
    mutating func put(_ entry: Entry) {
        var entry = entry
        entry.use = nextUse()
        entries.removeAll { $0.isOfSame(as: entry) }
        entries.append(entry)
    }

    /// - Returns: Whether anything changed: an entry that was used last already stays as it is.
    mutating func use(_ entry: Entry) -> Bool {
        guard let place = entries.firstIndex(where: { $0.isOfSame(as: entry) }), entries[place].use != lastUse else {
            return false
        }
        entries[place].use = nextUse()
        return true
    }

    private mutating func nextUse() -> Int64 {
        // No real index counts up to here, but one that was tampered with may.
        lastUse = lastUse == .max ? lastUse : lastUse + 1
        return lastUse
    }

    /// Those that were noted first go where there are too many.
    mutating func note(_ new: SentStore) {
        sent.removeAll { $0.name == new.name && $0.receiver == new.receiver }
        sent.append(new)
        while !fits, sent.count > 1 { sent.removeFirst() }
    }

    /// - Returns: Whether there were any.
    mutating func removeSent(where isToGo: (BaseKey) -> Bool) -> Bool {
        let before = sent.count
        // What is left out of a copy makes it no other store.
        sent.removeAll { isToGo(BaseKey(name: $0.name, store: $0.path, profile: $0.schema)) }
        return sent.count != before
    }

    /// - Returns: The entries that were removed.
    mutating func remove(where isToGo: (Entry) -> Bool) -> [Entry] {
        let going = entries.filter(isToGo)
        entries.removeAll(where: isToGo)
        return going
    }

    /// Makes the entries of a store at one path those of the store at another path, in place of the entries of that.
    ///
    /// - Returns: Whether anything changed.
    mutating func move(from source: FilePath, to target: FilePath) -> Bool {
        let moving = entries.filter { FilePath(text: $0.store) == source }
        guard source != target, !moving.isEmpty || sent.contains(where: { $0.path == source }) else { return false }
        for place in sent.indices where sent[place].path == source { sent[place].move(to: target) }
        entries.removeAll { FilePath(text: $0.store) == source }
        for var entry in moving {
            entry.move(to: target)
            entries.removeAll { $0.isOfSame(as: entry) }
            entries.append(entry)
        }
        return true
    }

    /// Drops external files first, then unfinished shipments, then the copies that were used longest ago, until enough is gone.
    ///
    /// External files go first in every case: without one, the next shipment sends it whole; without a copy, it sends the store whole.
    ///
    /// What is pinned stays.
    ///
    /// - Parameters:
    ///   - kept: Stays in every case.
    ///   - keepingAcknowledged: Whether acknowledged copies stay, too.
    ///   - isEnough: Is given the index as it is then.
    /// - Returns: `nil` if it is not enough that everything else goes.
    func evicting(
        except kept: Entry?, keepingAcknowledged: Bool = false, until isEnough: (BaseIndex) -> Bool
    ) -> BaseIndex? {
        var index = self
        while !isEnough(index) {
            if index.dropFiles(last: kept) { continue }
            let others = index.entries.filter { entry in
                !entry.isPinned && (entry.isUnfinished || !keepingAcknowledged)
                    && kept.map { !entry.isOfSame(as: $0) } ?? true
            }
            let next = others.min { ($0.isUnfinished ? 0 : 1, $0.use) < ($1.isUnfinished ? 0 : 1, $1.use) }
            guard let oldest = next else { return nil }
            _ = index.remove { $0.isOfSame(as: oldest) }
        }
        return index
    }

    /// Drops the external files of the copy that was used longest ago; or, if only `kept` has any, the last one of these.
    ///
    /// - Returns: Whether there were any.
    private mutating func dropFiles(last kept: Entry?) -> Bool {
        let all = entries.indices.filter { entries[$0].files?.isEmpty == false && !entries[$0].isPinned }
        let others = all.filter { place in kept.map { !entries[place].isOfSame(as: $0) } ?? true }
        if let oldest = others.min(by: { entries[$0].use < entries[$1].use }) {
            entries[oldest].files = nil
        } else if let place = all.first {
            entries[place].files?.removeLast()
        }
        return !all.isEmpty
    }

    // MARK: Its bytes

    init() {}

    /// - Parameter path: The file that the bytes are from, for errors.
    /// - Throws: `.newerFormat`, `.damaged`.
    init(decoding bytes: [UInt8], from path: FilePath) throws(BaseMemoryError) {
        if let found = FormatVersion.of(bytes), found > Self.version { throw .newerFormat(path, found) }
        guard let index = try? JSONDecoder().decode(BaseIndex.self, from: Data(bytes)), index.version == Self.version
        else { throw .damaged(path, flaw: "it is no record of remembered copies") }
        self = index
        if let flaw = firstFlaw { throw .damaged(path, flaw: flaw) }
    }

    /// The first flaw that makes the index one that this program has not written, in words; `nil` if there is none.
    var firstFlaw: String? {
        let (ids, streamIDs) = (Set(objects.map(\.id)), Set(streams.map(\.id)))
        guard ids.union(streamIDs).count == objects.count + streams.count else { return "it lists a file twice" }
        // A name from the index becomes part of a path.
        guard ids.union(streamIDs).allSatisfy({ UUID(uuidString: $0) != nil }) else {
            return "a file has a name that was not given here"
        }
        var rest = Self.mostBytes
        let areInRange = (objects.map(\.size) + streams.map(\.room)).allSatisfy { size in
            guard (0...min(Limits.partSize, rest)).contains(size) else { return false }
            rest -= size
            return true
        }
        guard areInRange, lastUse >= 0 else { return "a number is out of range" }
        guard sent.allSatisfy({ $0.path.isAbsolute }) else { return "a store is where none can be" }
        for entry in entries {
            guard ids.contains(entry.copy), ids.contains(entry.manifest),
                entry.files.map({ $0.count <= Self.mostFiles && $0.allSatisfy(ids.contains) }) ?? true,
                entry.stream.map({ streamIDs.contains($0) }) ?? true
            else { return "a copy has no file" }
            guard (0...lastUse).contains(entry.use), entry.state.map({ $0.count <= Self.stateLimit }) ?? true,
                entry.store.utf8.count <= Self.pathLength, FilePath(text: entry.store).isAbsolute,
                entry.receiver.utf8.count <= Self.receiverLength
            else { return "a copy is described as none can be" }
        }
        return nil
    }
}
