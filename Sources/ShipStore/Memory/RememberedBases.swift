import ShipCompression
public import ShipProtocol
public import StoreBases
import StoreFiles
import StoreSnapshot
import SystemPackage

/// The remembered copies of one store that is being shipped, which its receivers have acknowledged. No error in them fails a shipment.
struct RememberedBases: Sendable {
    let memory: BaseMemory
    /// The copies that are not in the memory yet; `nil` where everything goes there at once.
    let recent: RecentBases?
    let key: BaseKey

    /// - Parameter store: Absolute, and without symbolic links.
    init(
        in memory: BaseMemory, of store: FilePath, named name: StoreName, _ profile: CopyProfile,
        before recent: RecentBases? = nil
    ) {
        (self.memory, self.recent) = (memory, recent)
        key = BaseKey(name: name, store: store, profile: profile.digest)
    }

    /// The copies that a delta can refer to, the last used first. If an app has made a new store in the place of another, a delta of the
    /// new one refers to the other, if the consumer still holds that and lets the new one replace it.
    var bases: [RememberedCopy] { (recent?.copies(of: key) ?? []) + memory.copies(of: key) }

    /// The last manifest of the store, if a new copy would be the same, and have the same metadata.
    ///
    /// - Parameter current: Tells the state in which the store is; not called if nothing is remembered.
    func unchanged(_ current: () async -> StoreState?, metadata: [String: String]) async -> Manifest? {
        let copies = bases
        // Missing external files were left out because the user allowed that; this time the user may not.
        guard copies.contains(where: { $0.state != nil && $0.manifest.missingExternalFiles.isEmpty }),
            let state = await current()?.encoded(with: metadata)
        else { return nil }
        return copies.first { $0.state == state && $0.manifest.missingExternalFiles.isEmpty }?.manifest
    }

    /// Remembers a copy that a receiver has acknowledged.
    ///
    /// - Parameters:
    ///   - copy: The file of the canonical copy, which no longer changes.
    ///   - files: The files of the manifest's external files, in order; empty if deltas are not to refer to them.
    ///   - sent: Noted with it, where it goes to the memory at once.
    @discardableResult
    func acknowledged(
        _ manifest: Manifest, copy: FilePath, files: [FilePath] = [], by receiver: String, state: [UInt8]? = nil,
        sent: SentStore? = nil
    ) -> Remembering {
        if let recent, recent.take(manifest, copy: copy, as: key, by: receiver, state: state) { return .remembered }
        return memory.remember(
            manifest, copy: copy, files: worthRemembering(manifest, files), as: key, receiver: receiver, state: state,
            sent: sent)
    }

    /// The external files that are worth remembering for deltas of later ones.
    ///
    /// Short files cost little without a delta. Long ones would leave no room for others, and are media most often. Files that do not
    /// deflate are compressed already: a delta of the next version would save nothing. The shortest come first, so that there is room for
    /// the most.
    private func worthRemembering(
        _ manifest: Manifest, _ paths: [FilePath]
    ) -> [(part: Manifest.Part, path: FilePath)] {
        let files = zip(manifest.parts.dropFirst(), paths).filter { Self.sizes.contains($0.0.size) }
        guard !files.isEmpty else { return [] }
        let known = Set(bases.flatMap(\.files).map(\.sha256))
        var (found, room) = ([(part: Manifest.Part, path: FilePath)](), memory.roomForFiles)
        var (seen, looks) = (Set<ContentDigest>(), Self.mostLooks)
        for (part, path) in files.sorted(by: { $0.0.size < $1.0.size }) where seen.insert(part.sha256).inserted {
            guard room.count > 0, room.size >= part.size else { break }
            if !known.contains(part.sha256) {
                // Most external files are photos, and there may be thousands.
                looks -= 1
                guard looks >= 0, !Task.isCancelled else { break }
                guard Self.deflates(path, size: part.size) else { continue }
            }
            found.append((part, path))
            room = (room.count - 1, room.size - part.size)
        }
        return found
    }

    /// The sizes of external files that are remembered, in bytes.
    private static let sizes: ClosedRange<Int64> = 16 * 1024...8 * 1024 * 1024
    /// How many files are read after one shipment.
    private static let mostLooks = 1024
    /// How many bytes of a file are read.
    private static let sample = 64 * 1024

    /// Whether the middle of a file deflates to three quarters of it.
    private static func deflates(_ path: FilePath, size: Int64) -> Bool {
        let offset = max(0, (size - Int64(sample)) / 2)
        guard let bytes = try? OpenFile.readingWithoutFollowing(path).read(sample, at: offset), !bytes.isEmpty,
            let deflated = try? Deflate.encodedSize(of: bytes, level: .fastest)
        else { return false }
        return deflated <= bytes.count * 3 / 4
    }

    /// Records that a shipment is being sent, which may break off.
    ///
    /// - Returns: `nil` if the memory declines it.
    func begin(_ manifest: Manifest, copy: FilePath, for receiver: String, state: [UInt8]?) -> UnfinishedShipment? {
        guard let recent, recent.holds(copy) else {
            return memory.begin(manifest, copy: copy, as: key, receiver: receiver, state: state)
        }
        // It has to survive this process.
        guard let folder = memory.workingFolder(for: manifest.store.size), let place = try? TemporaryFolder(in: folder)
        else { return nil }
        let path = place.path.appending("copy")
        guard (try? OpenFile.copy(copy, to: path)) != nil else { return nil }
        return memory.begin(manifest, copy: path, as: key, receiver: receiver, state: state)
    }

    /// The shipments that broke off, the newest first, and those to this receiver before the others: it may have had another address.
    func unfinished(for receiver: String) -> [RememberedCopy] {
        let all = memory.unfinished(of: key)
        return all.filter { $0.receiver == receiver } + all.filter { $0.receiver != receiver }
    }

    /// The folder in which to make the copy, so that the memory can take it without writing it again; `nil` for the usual folder.
    ///
    /// - Parameter makesRoom: Whether copies are forgotten for it.
    func workingFolder(makingRoom makesRoom: Bool = false) -> FilePath? {
        guard let status = try? PlatformCalls.status(of: key.store) else { return nil }
        return memory.workingFolder(for: status.size, makingRoom: makesRoom)
    }
}

extension CopyProfile {
    /// Equal for profiles that leave out the same.
    var digest: ContentDigest {
        let lines =
            [
                "history \(leavesOutHistory ? "left out" : "kept")",
                "external \(longestExternalFile.map(String.init) ?? "all")",
            ]
            // Names of tables hold no NUL.
            + Set(emptiedTables.map(\.inLowerCase)).sorted()
        return ContentDigest(hashing: lines.joined(separator: "\0").utf8)
    }
}

extension OutgoingBase {
    init(_ copy: RememberedCopy) {
        self.init(
            content: copy.content, digest: copy.record.sha256, tables: copy.manifest.tables,
            open: { copy.open().map { ($0.path, $0) } }, files: copy.files,
            openFile: { copy.open($0).map { ($0.path, $0) } })
    }
}

extension StoreState {
    /// Equal states with equal metadata give equal bytes.
    func encoded(with metadata: [String: String]) -> [UInt8] {
        ContentDigest(hashing: digest.bytes + metadata.jsonBytes).bytes
    }
}

/// The copies that this device remembers because their receivers have acknowledged them: `ship-store bases`.
extension BaseMemory {
    /// Lists copies, the last used first.
    ///
    /// - Parameter names: Only copies that were shipped under these names; `nil` for all.
    /// - Throws: `.memory`; `.notRemembered` for a name under which nothing is.
    public func list(named names: [StoreName]? = nil) throws(ShipmentError) -> [BaseRecord] {
        let records = try ShipmentError.wrapping { try self.records() }
        guard let names else { return records }
        for name in names where !records.contains(where: { $0.key.name == name }) { throw .notRemembered(name) }
        return records.filter { names.contains($0.key.name) }
    }

    /// Forgets copies, and removes their files.
    ///
    /// - Parameter names: Only copies that were shipped under these names; `nil` for all.
    /// - Returns: The removed ones.
    /// - Throws: What `list` throws, and `.memory(.busy)`; then nothing is removed.
    public func remove(named names: [StoreName]?) async throws(ShipmentError) -> [BaseRecord] {
        try await LocalStore.run(waiting: .zero) { [self] _ in
            guard let names else { return try forgetEverything() }
            // Also where nothing has the name any more: a killed removal may have left files.
            _ = try forget { _ in false }
            _ = try list(named: names)
            return try names.flatMap { name in try forget { $0.name == name } }
        }
    }
}
