import ShipCompression
import ShipProtocol
import StoreBases
import StoreFiles
import StoreSnapshot
import SystemPackage

/// What is remembered of one store that is being shipped: the copies that its receivers have acknowledged.
///
/// Nothing here fails a shipment.
struct RememberedBases: Sendable {
    let memory: BaseMemory
    let key: BaseKey

    /// - Parameter store: Absolute, and without symbolic links.
    init(in memory: BaseMemory, of store: FilePath, named name: StoreName, _ profile: CopyProfile) {
        self.memory = memory
        key = BaseKey(name: name, store: store, profile: profile.digest)
    }

    /// The copies on which a shipment can build, the one that was used last first. A store that an app has made anew in the place of
    /// another one builds on that, if the consumer still holds it, and takes the new one in its place.
    var bases: [RememberedCopy] { memory.copies(of: key) }

    /// What the store was shipped as last, if another copy would be the same, and the same was said of it.
    ///
    /// - Parameters:
    ///   - store: Nothing about it changes.
    ///   - metadata: What the user says of it, beside what it says itself.
    func unchanged(_ store: SourceStore, metadata: [String: String]) async -> Manifest? {
        let copies = memory.copies(of: key)
        // What was left out on the user's word alone may be refused this time.
        guard copies.contains(where: { $0.state != nil && $0.manifest.missingExternalFiles.isEmpty }),
            let state = try? await store.state()?.encoded(with: metadata)
        else { return nil }
        return copies.first { $0.state == state && $0.manifest.missingExternalFiles.isEmpty }?.manifest
    }

    /// Remembers what a receiver has acknowledged.
    ///
    /// - Parameters:
    ///   - copy: The file of the canonical copy, which nobody writes to any more.
    ///   - files: Of each external file of the manifest, in order; empty where deltas do not build on them.
    @discardableResult
    func acknowledged(
        _ manifest: Manifest, copy: FilePath, files: [FilePath] = [], by receiver: String, state: [UInt8]? = nil
    ) -> Remembering {
        memory.remember(
            manifest, copy: copy, files: worthRemembering(manifest, files), as: key, receiver: receiver, state: state)
    }

    /// External files that a delta of a later one may build on.
    ///
    /// Short ones cost little as they are. Long ones, which would leave no room for others, are media most often; and those that do
    /// not deflate are compressed already, of whose next version hardly a byte stands where it stood. The shortest come first: so
    /// there is room for the most.
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
                // Most are photos, of which there may be thousands.
                looks -= 1
                guard looks >= 0, !Task.isCancelled else { break }
                guard Self.deflates(path, size: part.size) else { continue }
            }
            found.append((part, path))
            room = (room.count - 1, room.size - part.size)
        }
        return found
    }

    /// Of external files that are remembered, in bytes.
    private static let sizes: ClosedRange<Int64> = 16 * 1024...8 * 1024 * 1024
    /// How many are looked at after one shipment.
    private static let mostLooks = 1024
    /// Bytes of one that are looked at.
    private static let sample = 64 * 1024

    /// Whether the middle of a file deflates to three quarters of it.
    private static func deflates(_ path: FilePath, size: Int64) -> Bool {
        let offset = max(0, (size - Int64(sample)) / 2)
        guard let bytes = try? OpenFile.readingWithoutFollowing(path).read(sample, at: offset), !bytes.isEmpty,
            let deflated = try? EncodedSize.of(bytes, level: .fastest)
        else { return false }
        return deflated <= bytes.count * 3 / 4
    }

    /// A shipment that is being sent, and may break off.
    ///
    /// - Returns: `nil` if it is not to be remembered.
    func begin(
        _ manifest: Manifest, copy: FilePath, for receiver: String, state: [UInt8]?
    ) -> UnfinishedShipment? {
        guard case .begun(let shipment) = memory.begin(manifest, copy: copy, as: key, receiver: receiver, state: state)
        else { return nil }
        return shipment
    }

    /// The shipments that broke off, those to a receiver first, and the newest of them: it may be known by another address by now.
    func unfinished(for receiver: String) -> [RememberedCopy] {
        let all = memory.unfinished(of: key)
        return all.filter { $0.receiver == receiver } + all.filter { $0.receiver != receiver }
    }

    /// Where the copy is to be made, so that it need not be written twice to be remembered; `nil` for wherever it is made otherwise.
    func workingFolder() -> FilePath? {
        guard let status = try? PlatformCalls.status(of: key.store) else { return nil }
        return memory.workingFolder(for: status.size)
    }
}

extension CopyProfile {
    /// The same for profiles that leave out the same.
    var digest: ContentDigest {
        let lines =
            [
                "history \(history == .kept ? "kept" : "left out")",
                "external \(longestExternalFile.map(String.init) ?? "all")",
            ]
            // Names of tables hold no NUL.
            + Set(emptiedTables.map(\.inLowerCase)).sorted()
        return ContentDigest(hashing: lines.joined(separator: "\0").utf8)
    }
}

extension String {
    /// A-Z alone, as SQLite compares names.
    fileprivate var inLowerCase: String {
        let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: utf8.map { upper.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension OutgoingBase {
    init(_ copy: RememberedCopy) {
        self.init(
            content: ManifestContent(of: copy.manifest), digest: copy.record.sha256, open: { copy.open() },
            files: copy.files, openFile: { copy.open($0) })
    }
}

extension OpenedBase: OutgoingBase.Opened {}

extension StoreState {
    /// Equal states, of which the user says the same, give equal bytes.
    func encoded(with metadata: [String: String]) -> [UInt8] {
        ContentDigest(hashing: digest.bytes + MessageCoding.encode(metadata)).bytes
    }
}
