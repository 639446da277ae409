import ShipProtocol
import StoreFiles
public import SystemPackage

/// The folder in which a device keeps its identity, and its list of trusted devices.
///
///     DIR/identity.pem     the key and the certificate
///     DIR/decryption.key   the key that reads what others have encrypted for this device
///     DIR/peers.json       the trusted devices
///     DIR/counter          the number of its last shipment
///     DIR/turns/00 ... ff  empty folders: the lock on one orders the shipments of the stores that share it
public struct DeviceFolder: Sendable {
    public let path: FilePath
    let folder: PrivateFolder

    private static let identityFile: FilePath.Component = "identity.pem"
    private static let decryptionFile: FilePath.Component = "decryption.key"
    static let peersFile: FilePath.Component = "peers.json"
    private static let counterFile: FilePath.Component = "counter"
    private static let storeLocksFolder: FilePath.Component = "turns"

    /// - Parameter path: Made when the first file is written.
    public init(at path: FilePath) {
        self.path = path
        folder = PrivateFolder(path: path)
    }

    /// The user's own: `$XDG_CONFIG_HOME/ship-store`, or else `~/.config/ship-store`. The variable counts only if its path is
    /// absolute [XDG Base Directory Specification].
    public static var standard: DeviceFolder {
        DeviceFolder(at: UserFolder.named("XDG_CONFIG_HOME", or: ".config").appending("ship-store"))
    }

    /// The identity of this device. The first call makes it; two processes that call this at the same time get the same one.
    public func identity() throws(IdentityError) -> DeviceIdentity {
        try secret(existingIdentity) { () throws(IdentityError) in
            let new = try DeviceIdentity()
            try folder.write(Array(new.pem.utf8), as: Self.identityFile)
            return new
        }
    }

    /// - Returns: `nil` if it has not been made yet.
    package func existingIdentity() throws(IdentityError) -> DeviceIdentity? {
        try secret(in: Self.identityFile) { (bytes) throws(IdentityError) in
            try DeviceIdentity(pem: String(decoding: bytes, as: UTF8.self), in: path.appending(Self.identityFile))
        }
    }

    /// A secret that is made the first time that it is needed, by one process.
    private func secret<Secret>(
        _ existing: () throws(IdentityError) -> Secret?, orMadeBy make: () throws(IdentityError) -> Secret
    ) throws(IdentityError) -> Secret {
        if let known = try existing() {
            try folder.sync()
            return known
        }
        return try folder.whileLocked { () throws(IdentityError) in
            if let known = try existing() {
                // Whoever has made it may have been killed before it was durable.
                try folder.sync()
                return known
            }
            return try make()
        }
    }

    /// - Returns: `nil` if there is no such file.
    private func secret<Secret>(
        in file: FilePath.Component, _ decode: ([UInt8]) throws(IdentityError) -> Secret
    ) throws(IdentityError) -> Secret? {
        guard var bytes = try folder.read(file) else { return nil }
        // The copies of the libraries cannot be wiped from here.
        defer { for index in bytes.indices { bytes[index] = 0 } }
        return try decode(bytes)
    }
}

// MARK: Encryption

extension DeviceFolder {
    /// The key that reads what others have encrypted for this device. The first call makes it.
    package func decryptionKey() throws(IdentityError) -> DecryptionKey {
        try secret(existingDecryptionKey) { () throws(IdentityError) in
            let new = DecryptionKey()
            try folder.write(new.line, as: Self.decryptionFile)
            return new
        }
    }

    /// - Returns: `nil` if it has not been made yet.
    package func existingDecryptionKey() throws(IdentityError) -> DecryptionKey? {
        try secret(in: Self.decryptionFile) { (bytes) throws(IdentityError) in
            guard let key = DecryptionKey(line: bytes) else {
                throw .damaged(path.appending(Self.decryptionFile), flaw: "it holds no key")
            }
            return key
        }
    }
}

// MARK: The locks of the stores

extension DeviceFolder {
    /// How long to wait between two attempts at a lock.
    private static let pause = Duration.milliseconds(5)

    /// Runs `body` while no other process of this device, and no other task of this one, does so for the same store: so the numbers
    /// of its shipments rise in the order of its states.
    ///
    /// All stores share 256 locks; two stores with the same lock wait for each other.
    ///
    /// - Parameters:
    ///   - store: Its path, absolute and without symbolic links.
    ///   - limit: How long to wait for the lock.
    ///   - mayGoOn: Called while it waits; throws to stop waiting.
    /// - Throws: `IdentityError.busy`, and what the closures throw.
    package func whileLocking<Value>(
        _ store: FilePath, within limit: Duration, mayGoOn: () throws -> Void, _ body: () throws -> Value
    ) throws -> Value {
        let number = String(ContentDigest(hashing: Array(store.text.utf8)).hex.prefix(2))
        let place = path.appending(Self.storeLocksFolder).appending(number)
        for path in [path, path.appending(Self.storeLocksFolder), place] {
            try PrivateFolder(path: path).make(durably: false)
        }
        let deadline = ContinuousClock.now + limit
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
/// It rises, and is durable, before a shipment carries it. So no two shipments ever carry the same number, after a crash or a power
/// failure too. Some numbers may never be used.
extension DeviceFolder {
    /// The next number, for one shipment.
    ///
    /// - Parameter mayGoOn: Whether to wait on for others that draw one.
    /// - Throws: Among others `.damaged` for a file that holds no number: then the used numbers are unknown.
    package func nextCounter(waitingWhile mayGoOn: () -> Bool = { !Task.isCancelled }) throws(IdentityError) -> UInt64 {
        try folder.whileLocked(waitingWhile: mayGoOn) { () throws(IdentityError) in
            let next = try lastCounter() + 1
            try folder.write(Array("\(next)\n".utf8), as: Self.counterFile)
            return next
        }
    }

    /// Has the numbers go on above another one.
    package func skipCounters(to number: UInt64) throws(IdentityError) {
        try folder.whileLocked { () throws(IdentityError) in
            if try lastCounter() < number { try folder.write(Array("\(number)\n".utf8), as: Self.counterFile) }
        }
    }

    /// The last number; 0 before the first.
    package func lastCounter() throws(IdentityError) -> UInt64 {
        try folder.read(Self.counterFile).map { (bytes) throws(IdentityError) in try counter(in: bytes) } ?? 0
    }

    private func counter(in bytes: [UInt8]) throws(IdentityError) -> UInt64 {
        // Receivers refuse the highest number, and no number comes after it.
        guard bytes.last == UInt8(ascii: "\n"),
            bytes.dropLast().allSatisfy(\.isDigit),
            let number = UInt64(String(decoding: bytes.dropLast(), as: UTF8.self)), number < .max - 1
        else { throw .damaged(path.appending(Self.counterFile), flaw: "it holds no number of a shipment") }
        return number
    }
}
