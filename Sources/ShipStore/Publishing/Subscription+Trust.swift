import DeviceTrust
import ShipLinks
import ShipProtocol
import StoreInbox
import StoreInstall

/// What a receiver takes of a publisher, before anything of it is fetched.
extension Subscription {
    /// The stores that a device may send here; `nil` if it may send none.
    func stores(of publisher: Succession) throws(ShipmentError) -> TrustedPeer.Stores? {
        let trust = consumer.options.trust
        guard !consumer.options.takesUnsigned, let list = try trust.list(), !list.isEmpty,
            try !trust.isOwn(publisher.device)
        else { return .all }
        return list.stores(sentBy: publisher)
    }

    /// Whether the publisher may take the store over, as it is.
    func mayTakeOver(_ name: StoreName) throws -> Bool {
        guard let publisher, let list = try consumer.options.trust.list() else { return false }
        return list.takesOver(name, by: publisher.device)
    }

    func isTrusted(with name: StoreName) throws -> Bool {
        try publisher.map { try stores(of: $0)?.contains(name) != false } ?? true
    }

    /// Refuses what a session would refuse, before anything of it is fetched.
    func checkAllowed(_ store: PublishedHead.Store) throws {
        let allowed = consumer.options.budget.storeSize
        if store.size > allowed { throw refused(.tooMuch(.storeSize(store.size, allowed: allowed)), of: store.name) }
        if let hold = try consumer.installer.folder.hold(of: store.name) {
            throw refused(.install(hold), of: store.name)
        }
    }

    /// The objection, which is told once as long as it goes on.
    func refused(_ objection: ShipmentError, of name: StoreName) -> ShipmentError {
        if failures[name]?.error != objection {
            consumer.nextSession(link(to: ClosedSide()), report).refuse(name, objection)
        }
        return objection
    }
}
