import EssentialFoundation
public import ShipProtocol
import StoreFiles
public import StoreInbox
import StoreInstall
import StoreServing
import SystemPackage

/// An operator's deliberate step from the current generation of a store to another one: `rollback`.
///
/// A receiver may use the inbox meanwhile. A step back holds the store: the inbox refuses shipments of it until the operator releases it,
/// or goes forward to the newest generation again. The generation that was current before does not come in again by itself even then: a
/// shipment with the same content is refused until the operator goes forward to that generation, or allows it.
public struct Rollback: Hashable, Sendable {
    /// The number of the generation that was current; `nil` if nothing says any more which that was.
    public let from: Int?
    /// That one if it was asked for, and nothing has changed.
    public let to: Generation
    /// Whether shipments of the store are refused from now on.
    public let isOnHold: Bool

    /// How often another program may change the store between the look at a generation and the step to it.
    private static let attempts = 5
    /// Between two attempts.
    private static let pause = Duration.milliseconds(50)

    /// Verifies the other generation as `verify` does, and makes it current.
    ///
    /// - Parameters:
    ///   - name: The store.
    ///   - inbox: Where it is kept.
    ///   - number: Of the generation that is to be current: any that is kept and was current once, older or newer; `nil` for the newest
    ///     older one that was not rolled back.
    ///   - checking: How its store is checked.
    public static func perform(
        on name: StoreName, in inbox: Inbox, to number: Int? = nil, checking: CheckOptions = CheckOptions()
    ) async throws(ShipmentError) -> Rollback {
        try await ShipmentError.awaiting {
            for _ in 0..<attempts {
                if let rollback = try await attempt(name, inbox, number, checking) { return rollback }
                try await Task.sleep(for: pause)
            }
            throw InboxError.storeBusy(name, waited: StoreLock.timeout)
        }
    }

    /// - Returns: `nil` if another generation has become current, or the wanted one has gone, since it was verified.
    private static func attempt(
        _ name: StoreName, _ inbox: Inbox, _ number: Int?, _ checking: CheckOptions
    ) async throws -> Rollback? {
        let planned = try StoreLock(of: name, in: inbox).step(to: number)
        // A large store takes long to verify: this keeps it from being pruned, and keeps no other program waiting.
        guard let hold = try hold(planned.to) else { return nil }
        try planned.to.compareWithManifest()
        _ = try await checking.check(planned.to.storePath, against: StoreClaims(planned.to.manifest))
        let storeLock = try StoreLock(of: name, in: inbox)
        guard try storeLock.step(to: number) == planned else { return nil }
        try storeLock.take(planned, at: Timestamp(Date()))
        let isOnHold = try storeLock.isOnHold
        return withExtendedLifetime(hold) { _ in Rollback(from: planned.from, to: planned.to, isOnHold: isOnHold) }
    }

    /// - Returns: `nil` if the folder is gone.
    private static func hold(_ generation: Generation) throws -> FolderLock? {
        do throws(FileError) {
            return try FolderLock.take(.shared, on: generation.path)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// Ends the hold on a store: from now on its shipments come in, unless they bring what was rolled back. The current generation stays.
    ///
    /// - Returns: Whether the store was held.
    public static func release(_ name: StoreName, in inbox: Inbox) throws(ShipmentError) -> Bool {
        try ShipmentError.wrapping { try StoreLock(of: name, in: inbox).release() }
    }

    /// Ends the hold on a store, and allows what was rolled back to come in again. The current generation stays.
    ///
    /// - Returns: How many generations were refused; `nil` if the record of them could not be read.
    public static func allowAgain(_ name: StoreName, in inbox: Inbox) throws(ShipmentError) -> Int? {
        try ShipmentError.wrapping { try StoreLock(of: name, in: inbox).allowEverything() }
    }
}
