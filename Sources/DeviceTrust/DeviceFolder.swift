import EssentialFoundation
import StoreFiles
public import SystemPackage

/// The folder in which a device keeps who it is and whom it trusts.
///
///     DIR/identity.pem     the key and the certificate
///     DIR/peers.json       the trusted devices
///     DIR/counter          the number of its last shipment
///     DIR/turns/00 ... ff  empty: who holds the lock on one settles which state of a store a number goes with
public struct DeviceFolder: Sendable {
    public let path: FilePath
    let folder: PrivateFolder

    private static let identityFile: FilePath.Component = "identity.pem"
    static let peersFile: FilePath.Component = "peers.json"
    static let counterFile: FilePath.Component = "counter"
    static let turnsFolder: FilePath.Component = "turns"

    /// - Parameter path: Its folder; nothing is made until something has to be kept.
    public init(at path: FilePath) {
        self.path = path
        folder = PrivateFolder(path: path)
    }

    /// The user's own: `$XDG_CONFIG_HOME/ship-store`, or else `~/.config/ship-store`. A path there that is not absolute
    /// does not count [XDG Base Directory Specification].
    public static var standard: DeviceFolder {
        let configuration = ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"].map { FilePath($0) }
        let parent =
            configuration.flatMap { $0.isAbsolute ? $0 : nil }
            ?? FilePath(FileManager.default.homeDirectoryForCurrentUser.path).appending(".config")
        return DeviceFolder(at: parent.appending("ship-store"))
    }

    /// Who this device is. At the first call the identity is made; of two processes that do so at the same time, both
    /// get the same one.
    public func identity() throws(IdentityError) -> DeviceIdentity {
        if let known = try existingIdentity() { return known }
        try folder.make()
        return try folder.whileLocked { () throws(IdentityError) in
            if let known = try existingIdentity() { return known }
            let new = try DeviceIdentity()
            try folder.write(Array(new.pem.utf8), as: Self.identityFile)
            return new
        }
    }

    /// - Returns: `nil` if it has not been made yet.
    package func existingIdentity() throws(IdentityError) -> DeviceIdentity? {
        guard var bytes = try folder.read(Self.identityFile) else { return nil }
        // The copies that the libraries make are not ours to wipe.
        defer { for index in bytes.indices { bytes[index] = 0 } }
        do throws(DeviceIdentity.PEMFlaw) {
            return try DeviceIdentity(pem: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw .damaged(path.appending(Self.identityFile), flaw: error.words)
        }
    }
}
