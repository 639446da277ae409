public import ShipProtocol
public import SystemPackage

/// The key of a remembered copy: which store it is of, how much of it, and under which name.
///
/// A store is known by its path, and followed when that changes (`SentStore`). The manifest tells whether the store at the path is still
/// the one that was there then (`Manifest.checkSuccession(to:allowingEmpty:)`); and a consumer verifies the result of each delta.
public struct BaseKey: Hashable, Sendable {
    public let name: StoreName
    /// The live store: absolute, and without symbolic links.
    public let store: FilePath
    /// The digest of what was to be left out.
    package let profile: ContentDigest

    /// In place of a receiver: a copy that the user has added, for whichever receiver holds it. It stays until it is removed.
    package static let everyReceiver = "*"

    package init(name: StoreName, store: FilePath, profile: ContentDigest) {
        self.name = name
        self.store = store
        self.profile = profile
    }
}
