package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Which store was sent to a receiver under a name. So another store of that name does not take its place there unasked, and a store is
/// known again when its path has changed, as that of an app's container does with each update.
package struct SentStore: Hashable, Sendable, Codable {
    package let name: StoreName
    /// A device's id, or an endpoint; empty for everything that goes one way, because nobody knows who receives it.
    package let receiver: String
    /// As in `PathText`: absolute, and without symbolic links.
    private(set) var store: String
    private let device: UInt64
    private let inode: UInt64
    /// The app's name for the store, whatever its path.
    private let key: String?
    private let identity: ForeignText?
    let schema: ContentDigest

    package init(
        _ name: StoreName, to receiver: String, at path: FilePath, _ file: FileStatus, key: String?,
        identity: ForeignText?,
        schema: ContentDigest
    ) {
        (self.name, self.receiver, store) = (name, receiver, path.text)
        (device, inode) = (file.device, file.inode)
        (self.key, self.identity, self.schema) = (key, identity, schema)
    }

    package var path: FilePath { FilePath(text: store) }

    /// Whether nothing is at its path any more.
    package var isGone: Bool { (try? PlatformCalls.isThere(path)) == false }

    /// Whether it is the same store as one that was sent before: by what the app calls it, or by its identity, or else by its file, or by
    /// its schema if the other one is no longer where it was.
    package func isSame(as earlier: SentStore) -> Bool {
        if let key, let before = earlier.key { return key == before }
        if identity != nil || earlier.identity != nil { return identity == earlier.identity }
        if (device, inode) == (earlier.device, earlier.inode) { return true }
        return earlier.isGone && schema == earlier.schema
    }

    /// Whether the index takes it.
    var isShortEnough: Bool {
        receiver.utf8.count <= BaseIndex.receiverLength && store.utf8.count <= BaseIndex.pathLength
    }

    mutating func move(to path: FilePath) { store = path.text }

    /// Most bytes that it takes in the index.
    var weight: Int { 6 * (store.utf8.count + receiver.utf8.count + (key?.utf8.count ?? 0) + Limits.labelLength) + 512 }
}
