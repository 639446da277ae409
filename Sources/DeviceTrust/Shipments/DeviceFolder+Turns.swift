import ShipProtocol
import StoreFiles
package import SystemPackage

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
