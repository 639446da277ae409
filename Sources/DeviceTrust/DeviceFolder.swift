import EssentialFoundation
import ShipProtocol
public import StoreFiles
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

/// The order in which this device settles the states of a store and draws the numbers that go with them.
extension DeviceFolder {
    /// How long to look away between two looks at a lock that somebody holds.
    private static let pause = Duration.milliseconds(5)

    /// Runs `body` while no other process of this device, and no other task of this one, does the same for the same store.
    ///
    /// Stores share 256 locks, so that there are never more of them; two that share one wait for each other.
    ///
    /// - Parameters:
    ///   - store: Its path, absolute and without symbolic links.
    ///   - patience: How long to wait for the others.
    ///   - mayGoOn: Asked while it waits; throws to give up.
    /// - Throws: `IdentityError.busy`, and what the closures throw.
    package func whileInTurn<Value>(
        for store: FilePath, waiting patience: Duration, mayGoOn: () throws -> Void, _ body: () throws -> Value
    ) throws -> Value {
        let number = String(ContentDigest(hashing: Array(store.string.utf8)).hex.prefix(2))
        let place = path.appending(Self.turnsFolder).appending(number)
        try folder.make()
        try PrivateFolder(path: path.appending(Self.turnsFolder)).make()
        try PrivateFolder(path: place).make()
        let deadline = ContinuousClock.now + patience
        while true {
            try mayGoOn()
            if let lock = try FolderLock.take(.exclusive, on: place) { return try Self.run(body, holding: lock) }
            guard .now < deadline else { throw IdentityError.busy(place) }
            PlatformCalls.pause(Self.pause)
        }
    }

    private static func run<Value>(_ body: () throws -> Value, holding _: borrowing FolderLock) throws -> Value {
        try body()
    }
}

/// The number of the last shipment of this device: `DIR/counter`, in decimal digits and a line feed.
///
/// It rises before it is used, and is durable by then: no two shipments ever carry the same, whatever is killed or cut off.
/// Numbers may be left out.
extension DeviceFolder {
    /// The next number, for one shipment.
    ///
    /// - Throws: Among others `.damaged` for a file that holds no number: nobody knows then which ones were used.
    package func nextCounter() throws(IdentityError) -> UInt64 {
        try folder.make()
        return try folder.whileLocked { () throws(IdentityError) in
            let next = try lastCounter() + 1
            try folder.write(Array("\(next)\n".utf8), as: Self.counterFile)
            return next
        }
    }

    /// The number that was drawn last; 0 before the first.
    package func lastCounter() throws(IdentityError) -> UInt64 {
        try folder.read(Self.counterFile).map { (bytes) throws(IdentityError) in try counter(in: bytes) } ?? 0
    }

    private func counter(in bytes: [UInt8]) throws(IdentityError) -> UInt64 {
        // Nobody takes the highest number, and there is none after it.
        guard bytes.last == UInt8(ascii: "\n"),
            bytes.dropLast().allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let number = UInt64(String(decoding: bytes.dropLast(), as: UTF8.self)), number < .max - 1
        else { throw .damaged(path.appending(Self.counterFile), flaw: "it holds no number of a shipment") }
        return number
    }
}

/// Why this device's identity, or the list of those whom it trusts, cannot be used.
public enum IdentityError: Error, Hashable, Sendable {
    /// Other users may read or change it.
    case exposed(FilePath, FilePermissions)
    /// It belongs to another user.
    case otherOwner(FilePath, user: UInt32)
    /// It is a symbolic link, or anything else than a file or folder with one name.
    case notPlain(FilePath)
    /// What is in it makes no sense.
    case damaged(FilePath, flaw: String)
    /// Another program is changing it, and does not come to an end.
    case busy(FilePath)
    /// The certificate could not be made.
    case notMade
    case file(FileError)
}
