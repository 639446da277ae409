import EssentialFoundation
public import ShipProtocol
import StoreFiles
public import StoreInbox
import StoreInstall
import StoreServing
import SystemPackage

/// An operator's deliberate step from the current generation of a store to another one: `rollback`.
///
/// A receiver may own the inbox meanwhile. What was rolled back from does not come in again by itself: a shipment of the
/// very same store is refused until the operator goes forward to it again, or allows it.
public struct Rollback: Hashable, Sendable {
    public let from: Generation
    /// Equal to `from` if that was asked for, and nothing has changed.
    public let to: Generation

    /// Where a step leads.
    public enum Target: Hashable, Sendable {
        /// To the newest older generation from which nobody has gone back.
        case previous
        /// To any that is kept and was current once, older or newer.
        case generation(Int)
    }

    /// How often somebody else may change the store between the look at a generation and the step to it.
    private static let attempts = 5
    /// Between two attempts.
    private static let pause = Duration.milliseconds(50)

    /// Verifies the other generation as `verify` does, and makes it current.
    ///
    /// - Parameters:
    ///   - name: The store.
    ///   - inbox: Where it is kept.
    ///   - target: Which generation is to be current.
    ///   - checking: How its store is checked.
    public static func perform(
        on name: StoreName, in inbox: Inbox, to target: Target = .previous, checking: CheckOptions = CheckOptions()
    ) async throws(ShipmentError) -> Rollback {
        do {
            for _ in 0..<attempts {
                if let rollback = try await attempt(name, inbox, target, checking) { return rollback }
                try await Task.sleep(for: pause)
            }
            throw InboxError.storeBusy(name, waited: StoreCustody.patience)
        } catch {
            throw ShipmentError(error)
        }
    }

    /// - Returns: `nil` if another generation has become current, or the wanted one has gone, since it was verified.
    private static func attempt(
        _ name: StoreName, _ inbox: Inbox, _ target: Target, _ checking: CheckOptions
    ) async throws -> Rollback? {
        let planned = try StoreCustody(of: name, in: inbox).step(to: target.asStep)
        // A large store takes long to verify: nobody waits for that, and nobody prunes it meanwhile.
        guard let hold = try hold(planned.to) else { return nil }
        try planned.to.compareWithManifest()
        _ = try await checking.check(planned.to.storePath, against: StoreClaims(planned.to.manifest))
        let custody = try StoreCustody(of: name, in: inbox)
        guard try custody.step(to: target.asStep) == planned else { return nil }
        try custody.take(planned, at: Timestamp(Date()))
        return withExtendedLifetime(hold) { _ in Rollback(from: planned.from, to: planned.to) }
    }

    /// - Returns: `nil` if the folder goes away.
    private static func hold(_ generation: Generation) throws -> FolderLock? {
        do throws(FileError) {
            return try FolderLock.take(.shared, on: generation.path)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// Whatever was rolled back of a store may come in again; what is current stays.
    ///
    /// - Returns: How many generations were not welcome; `nil` if the record of them could not be read.
    public static func allowAgain(_ name: StoreName, in inbox: Inbox) throws(ShipmentError) -> Int? {
        do throws(InboxError) {
            return try StoreCustody(of: name, in: inbox).allowEverything()
        } catch {
            throw .install(error)
        }
    }
}

extension Rollback.Target {
    fileprivate var asStep: StoreCustody.Target {
        switch self {
        case .previous: .previous
        case .generation(let number): .generation(number)
        }
    }
}
