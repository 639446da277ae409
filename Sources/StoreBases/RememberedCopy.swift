import EssentialFoundation
public import ShipProtocol
import StoreFiles
public import SystemPackage

/// A copy that is remembered, as the index has it: whether its file is still what it was, `RememberedCopy.open` finds out.
public struct BaseRecord: Hashable, Sendable {
    /// Which store it is a copy of, and under which name it went.
    public let key: BaseKey
    /// Who acknowledged it, or was to: a device's id, or an endpoint.
    public let receiver: String
    public let rememberedAt: Timestamp
    public let progress: Progress
    /// Of the copy, in bytes.
    public let size: Int64
    public let sha256: ContentDigest
    /// Of the file, which other records may share.
    public let path: FilePath
    /// External files that are remembered with it, which other records may share: how many, and their bytes.
    public var externalFiles: (count: Int, size: Int64) { (files.count, files.reduce(0) { $0 + $1.size }) }

    let files: [BaseIndex.Object]

    /// How far its shipment has come.
    public enum Progress: Hashable, Sendable {
        /// The receiver has it.
        case acknowledged
        /// It broke off, or is being sent now.
        ///
        /// - Parameter sent: Of the part that was open, as it went: about, in bytes.
        case unfinished(sent: Int64)
    }

    let entry: BaseIndex.Entry

    init?(_ entry: BaseIndex.Entry, in index: BaseIndex, of memory: BaseMemory) {
        guard let copy = index.object(entry.copy) else { return nil }
        key = entry.key
        receiver = entry.receiver
        rememberedAt = entry.rememberedAt
        size = copy.size
        sha256 = copy.sha256
        files = (entry.files ?? []).compactMap(index.object)
        path = memory.folder.appending(BaseMemory.objectFolder).appending(copy.id)
        if let stream = entry.stream {
            let file = memory.folder.appending(BaseMemory.objectFolder).appending(stream)
            progress = .unfinished(sent: (try? PlatformCalls.status(of: file))?.size ?? 0)
        } else {
            progress = .acknowledged
        }
        self.entry = entry
    }
}

/// A copy that is remembered, with all that was said of it.
package struct RememberedCopy: Hashable, Sendable {
    package let record: BaseRecord
    /// As it was acknowledged, or offered.
    package let manifest: Manifest

    let memory: BaseMemory

    /// What was given with it.
    package var state: [UInt8]? { record.entry.state.map(Array.init) }
    package var receiver: String { record.receiver }
    /// The external files that are remembered with it.
    package var files: [ExternalFile] {
        let known = Set(record.files.map(\.sha256))
        return manifest.externalFiles.filter { known.contains($0.sha256) }
    }
}

extension BaseMemory {
    /// All that is remembered, what was used last first.
    ///
    /// - Throws: `.exposed`, `.otherOwner`, `.notPlain`, `.damaged`, `.file`.
    public func records() throws(BaseMemoryError) -> [BaseRecord] {
        let index = try index()
        let records = index.entries.sorted { $0.use > $1.use }.compactMap { BaseRecord($0, in: index, of: self) }
        return records.filter { record in
            let status = try? PlatformCalls.status(of: record.path)
            return status?.kind == .file && status?.size == record.size
        }
    }

    /// What is remembered of a store as acknowledged, what was used last first; no file but the manifests is read. Nothing, if the memory cannot be
    /// read.
    package func copies(of key: BaseKey) -> [RememberedCopy] { copies(of: key) { !$0.isUnfinished } }

    func copies(of key: BaseKey, where isWanted: (BaseIndex.Entry) -> Bool) -> [RememberedCopy] {
        guard let opened = try? open(), let index = try? Self.index(in: opened) else { return [] }
        return index.entries.filter { $0.key == key && isWanted($0) }.sorted { $0.use > $1.use }.compactMap { entry in
            guard let record = BaseRecord(entry, in: index, of: self), let object = index.object(entry.manifest),
                let manifest = Self.manifest(object, in: opened), manifest.store.sha256 == record.sha256,
                manifest.store.size == record.size, manifest.name == key.name,
                let status = try? opened.status(of: record.path), status.kind == .file, status.size == record.size
            else { return nil }
            return RememberedCopy(record: record, manifest: manifest, memory: self)
        }
    }

    private static func manifest(_ object: BaseIndex.Object, in folder: borrowing OpenFolder) -> Manifest? {
        guard object.size <= Int64(Limits.manifestSize) else { return nil }
        let path = folder.path.appending(objectFolder).appending(object.id)
        guard let file = try? folder.file(at: path), let bytes = try? file.read(Int(object.size), at: 0),
            ContentDigest(hashing: bytes) == object.sha256
        else { return nil }
        return try? MessageCoding.decodeManifest(bytes)
    }
}
