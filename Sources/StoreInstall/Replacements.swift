package import ShipProtocol
import Synchronization

/// The stores in whose place the operator lets another one come: each for one shipment.
package final class Replacements: Sendable {
    private let names: Mutex<Set<StoreName>>

    package init(of names: Set<StoreName> = []) {
        self.names = Mutex(names)
    }

    func allow(_ name: StoreName) -> Bool { names.withLock { $0.contains(name) } }

    /// A shipment has been installed, and was the one.
    func use(_ name: StoreName) { names.withLock { _ = $0.remove(name) } }
}
