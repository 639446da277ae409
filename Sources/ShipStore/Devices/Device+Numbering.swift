import DeviceTrust
import ShipProtocol
import StoreSnapshot
import Synchronization

extension Device {
    /// How long to wait for other processes that draw a number of the same store, beside the time for which they may wait for the store.
    /// Most take milliseconds; a copy that only VACUUM can make takes as long as it needs.
    private static let turnTimeout = Duration.seconds(600)

    /// Takes a copy, and draws its number at the moment of its read transaction: of two shipments of a store by one device, the one with
    /// the higher number never carries an older state, even if many are made at the same time.
    ///
    /// Source: `Protocol/TRUST.md` section 4.
    func number(
        copyOf store: SourceStore, _ take: (SnapshotTurn) async throws -> PreparedCopy
    ) async throws -> PreparedCopy {
        // The last number that was drawn, or why none could be drawn; `nil` before the copy's turn.
        let drawn = Mutex<Result<UInt64, ShipmentError>?>(nil)
        let turn = SnapshotTurn { mayGoOn, begin in
            do {
                try folder.whileLocking(store.path, within: store.busyTimeout + Self.turnTimeout, mayGoOn: mayGoOn) {
                    guard try begin() else { return }
                    let number = try nextCounter { (try? mayGoOn()) != nil }
                    drawn.withLock { $0 = .success(number) }
                }
            } catch  where error is IdentityError || error is ShipmentError {
                // The copy throws its own errors in place of this one.
                let failure = ShipmentError(error)
                drawn.withLock { $0 = .failure(failure) }
                throw failure
            }
        }
        var copy: PreparedCopy
        do {
            copy = try await take(turn)
        } catch {
            if case .failure(let failure)? = drawn.withLock({ $0 }) { throw failure }
            throw error
        }
        guard let drawn = drawn.withLock({ $0 }) else { throw BrokenInvariant("a copy was taken without its turn") }
        copy.manifest = copy.manifest.counted(try drawn.get())
        return copy
    }
}
