public import ShipProtocol
import StoreFiles
public import SystemPackage

/// A remembered copy, as the index has it. `RememberedCopy.open` finds out whether its file is still what it was.
public struct BaseRecord: Hashable, Sendable {
    /// Which store it is a copy of, and under which name it was sent.
    public let key: BaseKey
    /// Who acknowledged it, or was to acknowledge it: a device's id, or an endpoint; `*` for what was added by hand.
    public let receiver: String
    public let rememberedAt: Timestamp
    /// About the bytes that were sent of the open part, as encoded, if its shipment broke off or is being sent now; `nil` if the
    /// receiver has it.
    public let unfinishedSize: Int64?
    /// The size of the copy, in bytes.
    public let size: Int64
    public let sha256: ContentDigest
    /// The path of the file, which other records may share.
    public let path: FilePath
    /// The external files that are remembered with it, which other records may share: how many, and their bytes.
    public var externalFiles: (count: Int, size: Int64) { (files.count, files.reduce(0) { $0 + $1.size }) }

    /// Whether it was added by hand, and stays until it is removed.
    public var isPinned: Bool { entry.isPinned }

    let files: [BaseIndex.Object]

    let entry: BaseIndex.Entry

    init?(_ entry: BaseIndex.Entry, in index: BaseIndex, of memory: BaseMemory) {
        guard let copy = index.object(entry.copy) else { return nil }
        key = entry.key
        receiver = entry.receiver
        rememberedAt = entry.rememberedAt
        size = copy.size
        sha256 = copy.sha256
        files = (entry.files ?? []).compactMap(index.object)
        path = memory.path(ofObject: copy.id)
        unfinishedSize = entry.stream.map { stream in
            (try? PlatformCalls.status(of: memory.path(ofObject: stream)))?.size ?? 0
        }
        self.entry = entry
    }
}
