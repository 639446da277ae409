import ShipProtocol
import StoreFiles
import StoreInbox
import StoreServing
import Synchronization

/// The stores that a producer ships again whenever they change, and what watches them. An inbox may get more of them.
package final class WatchedStores: Sendable {
    private let stores = Mutex<[WatchedStore]>([])
    /// Who wants to know of stores that come into the inbox.
    private let arrivals = Registrations<WatchedStore>()
    /// A `FileWatch` of live stores, or an `InboxWatch`.
    private let watch = Mutex<(any Sendable)?>(nil)
    private let registration = Mutex<Registration?>(nil)

    /// - Parameters:
    ///   - isShared: Whether several receivers may come for them.
    ///   - report: Told of what is not in the inbox yet.
    /// - Throws: What is wrong with a store: live ones have to be there at the start.
    package init(
        of producer: Producer, _ following: Following, isShared: Bool, report: (SendEvent) -> Void = { _ in }
    ) throws(ShipmentError) {
        let copying = producer.options.copy
        // What a killed sender has left, also where no copy is taken for a while.
        TemporaryFolder.sweep(copying.temporaryFolder, .temporary)
        producer.options.memory?.tidy()
        do {
            if let (inbox, names) = producer.held {
                let add = { @Sendable [weak self] in
                    self?.look(into: inbox, for: names) { WatchedStore($0, copying, following, isShared: isShared) }
                }
                add()
                let there = all.map(\.name)
                let missing = names.filter { !there.contains($0) }
                if !missing.isEmpty || there.isEmpty { report(.awaits(missing, inbox: inbox.root)) }
                let watch = try InboxWatch(inbox, .automatic, notice: add)
                self.watch.withLock { $0 = watch }
            } else {
                let all = try producer.sources { (_, _) throws(ShipmentError) in }.map {
                    WatchedStore(.live($0), copying, following, isShared: isShared)
                }
                stores.withLock { $0 = all }
                let watch = try FileWatch(of: all.count, files: { all[$0].files }) { all[$0].notice() }
                self.watch.withLock { $0 = watch }
            }
        } catch {
            throw ShipmentError(error)
        }
        registration.withLock { [weak self] in
            $0 = following.control.changes.add { name in
                for store in self?.all ?? [] where name == nil || store.name == name { store.notice() }
            }
        }
    }

    deinit { for store in all { store.letGo() } }

    /// Those that there are.
    private var all: [WatchedStore] { stores.withLock { $0 } }

    /// Calls with each store, now or when it comes, for as long as the registration lives. It may call twice with one.
    func forEach(_ call: @escaping @Sendable (WatchedStore) -> Void) -> Registration {
        let registration = arrivals.add(call)
        all.forEach(call)
        return registration
    }

    /// Finds what has come into an inbox. What is there may have changed.
    ///
    /// - Parameter names: Those that count; empty for all.
    private func look(into inbox: Inbox, for names: [StoreName], watching: (Shippable) -> WatchedStore) {
        let there = ((try? inbox.storeNames()) ?? []).filter { names.isEmpty || names.contains($0) }
            .map { HeldStore(inbox: inbox, name: $0) }.filter { $0.state != nil }
        let new = stores.withLock { stores in
            let new = there.filter { store in !stores.contains { $0.name == store.name } }.map {
                watching(.held($0, nil))
            }
            stores += new
            return new
        }
        new.forEach(arrivals.call)
        for store in all { store.notice() }
    }
}
