import ShipProtocol
import StoreInbox
import StoreInstall
import StoreServing
import SystemPackage

/// A shipment all of which is here, as its manifest says: it is checked, asked, and installed, once. When it is dropped before that,
/// the staging goes.
struct SealedShipment: ~Copyable {
    let sender: Sender
    /// The current generation, if it is this very shipment.
    let same: Generation?

    private let sealed: SealedGeneration
    /// What waits to check the store, where that is done somewhere else.
    private let checker: (any StartedChecker)?
    /// Held until it is installed.
    private let turn: StoreTurns.Turn

    init(
        _ sealed: consuming SealedGeneration, from sender: Sender, instead same: Generation?,
        _ checker: (any StartedChecker)?,
        _ turn: StoreTurns.Turn
    ) {
        self.sender = sender
        self.same = same
        self.sealed = sealed
        self.checker = checker
        self.turn = turn
    }

    var manifest: Manifest { sealed.manifest }

    /// Checks as a store what has been read back.
    ///
    /// - Throws: `StoreCheck.Flaw`.
    func check(_ options: CheckOptions) async throws -> CheckReport {
        try await options.check(sealed.storePathByDescriptor, against: StoreClaims(manifest), by: checker)
    }

    /// - Throws: `FailedProbe`, `CancellationError`.
    func ask(_ probes: ProbeRun) throws {
        do throws(FailedProbe) {
            try probes.run(on: sealed.storePathByDescriptor, size: manifest.store.size)
        } catch {
            // A probe that was left in the middle has not failed.
            try Task.checkCancellation()
            throw error
        }
    }

    consuming func install(
        with installer: Installer, permitting: () throws -> Void, open: (Generation) async throws -> Void
    ) async throws -> Generation {
        let turn = turn
        defer { withExtendedLifetime(turn) {} }
        return try await installer.install(sealed, permitting: permitting, open: open)
    }
}
