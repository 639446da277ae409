import DeviceTrust
import ShipProtocol
import StoreSnapshot
import Synchronization

/// Draws the number of one shipment of a store together with the state that it is of: of two shipments of a store by one device
/// the one with the higher number never carries an older state, however many are made at the same time.
///
/// Source: `Protocol/TRUST.md` section 4.
final class ShipmentNumbering: Sendable {
    private struct State {
        /// The last one that was drawn.
        var number: UInt64?
        /// Why none could be drawn.
        var failure: ShipmentError?
    }

    private let device: Device
    private let store: SourceStore
    private let state = Mutex(State())

    /// How long to wait for others that settle a state of the same store, beside the time that the store itself may keep them
    /// waiting. Most need milliseconds, and a copy that only VACUUM can make needs as long as it takes.
    private static let patience = Duration.seconds(600)

    init(of store: SourceStore, by device: Device) {
        self.store = store
        self.device = device
    }

    /// The number's moment.
    private var turn: SnapshotTurn {
        SnapshotTurn { [self] mayGoOn, begin in
            do {
                try device.folder.whileInTurn(
                    for: store.path, waiting: store.busyTimeout + Self.patience, mayGoOn: mayGoOn
                ) {
                    guard try begin() else { return }
                    let number = try device.nextCounter()
                    state.withLock { $0.number = number }
                }
            } catch let error as IdentityError {
                throw failed(ShipmentError(error))
            } catch let error as ShipmentError {
                throw failed(error)
            }
        }
    }

    /// The copy's own errors are of another kind.
    private func failed(_ failure: ShipmentError) -> ShipmentError {
        state.withLock { $0.failure = failure }
        return failure
    }

    /// Takes a copy, and gives it its number.
    func number(
        _ take: (SnapshotTurn) async throws -> PreparedCopy
    ) async throws -> PreparedCopy {
        var copy: PreparedCopy
        do {
            copy = try await take(turn)
        } catch {
            throw state.withLock { $0.failure } ?? error
        }
        guard let number = state.withLock({ $0.number }) else {
            throw BrokenInvariant("a copy was taken without its turn")
        }
        copy.count(number)
        return copy
    }
}
