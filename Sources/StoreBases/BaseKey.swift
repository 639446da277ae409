public import ShipProtocol
public import SystemPackage

/// Of what a remembered copy is one: which store, how much of it, and under which name.
///
/// A store is known by its path. Neither its device nor its inode tells more: numbers of devices change when a system starts,
/// and those of inodes are given to the next file. Whether the store that is at the path now is the one that was there then, its
/// manifest says (`Succession`); and whoever builds on a copy proves the result.
public struct BaseKey: Hashable, Sendable {
    public let name: StoreName
    /// The live store: absolute, and without symbolic links.
    public let store: FilePath
    /// Of what was to be left out.
    package let profile: ContentDigest

    package init(name: StoreName, store: FilePath, profile: ContentDigest) {
        self.name = name
        self.store = store
        self.profile = profile
    }
}
