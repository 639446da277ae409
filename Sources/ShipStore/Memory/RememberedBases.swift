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
    /// - Parameter copy: The file of the canonical copy, which nobody writes to any more.
    @discardableResult
    func acknowledged(
        _ manifest: Manifest, copy: FilePath, by receiver: String, state: [UInt8]? = nil
    ) -> Remembering {
        memory.remember(manifest, copy: copy, as: key, receiver: receiver, state: state)
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
        self.init(content: ManifestContent(of: copy.manifest), digest: copy.record.sha256) { copy.open() }
    }
}

extension OpenedBase: OutgoingBase.Opened {}

extension StoreState {
    /// Equal states, of which the user says the same, give equal bytes.
    func encoded(with metadata: [String: String]) -> [UInt8] {
        ContentDigest(hashing: digest.bytes + MessageCoding.encode(metadata)).bytes
    }
}
