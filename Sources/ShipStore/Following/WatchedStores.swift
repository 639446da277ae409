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
    private let recent: RecentBases?
    /// A `FileWatch` of live stores, or an `InboxWatch`; and what tells of changes that the app knows of.
    private let watches = Mutex<[any Sendable]>([])
    /// Looks into the inbox; `nil` for live stores.
    private let lookAgain = Mutex<(@Sendable () -> Void)?>(nil)

    /// - Parameters:
    ///   - isShared: Whether several receivers may come for them.
    ///   - recent: Keeps copies in RAM; `nil` for none.
    ///   - report: Told of what is not in the inbox yet.
    /// - Throws: What is wrong with a store: live ones have to be there at the start, unless they are to be tried again and again.
    package init(
        of producer: Producer, _ following: Following, isShared: Bool, before recent: RecentBases? = nil,
        report: (SendEvent) -> Void = { _ in }
    ) throws(ShipmentError) {
        self.recent = recent
        let copying = producer.options.copy
        // What a killed sender has left, also where no copy is taken for a while.
        TemporaryFolder.sweep(copying.temporaryFolder, .temporary)
        producer.options.memory?.tidy()
        let watched = { @Sendable (place: WatchedStore.Place, name: StoreName) in
            WatchedStore(at: place, named: name, copying, following, isShared: isShared, before: recent)
        }
        try ShipmentError.wrapping {
            if let (inbox, names) = producer.held {
                try watch(inbox, for: names, watched, report)
            } else {
                if !following.keepsTrying { _ = try producer.sources { (_, _) throws(ShipmentError) in } }
                let all = try producer.named().map { watched(.live($0.path), $0.name) }
                stores.withLock { $0 = all }
                try keep(FileWatch(of: all.count, files: { all[$0].files }) { all[$0].notice() })
            }
        }
        keep(following.control.changes.add { [weak self] in self?.notice($0) })
    }

    deinit { for store in all { store.letGo() } }

    /// - Returns: `nil` where copies are made on the disk.
    package static func recentBases(of producer: Producer, _ following: Following) -> RecentBases? {
        guard !producer.isOfInbox, let memory = producer.options.memory else { return nil }
        return RecentBases(before: memory, producer.options.copy, within: following.memory)
    }

    /// Those that there are.
    var all: [WatchedStore] { stores.withLock { $0 } }

    private func keep(_ watch: any Sendable) { watches.withLock { $0.append(watch) } }

    /// - Parameter name: `nil` for all.
    private func notice(_ name: StoreName?) {
        for store in all where name == nil || store.name == name { store.notice() }
    }

    /// Calls with each store, now or when it comes, for as long as the registration lives. It may call twice with one.
    func forEach(_ call: @escaping @Sendable (WatchedStore) -> Void) -> Registration {
        // Word of what has just come may still be on its way.
        lookAgain.withLock(\.self)?()
        let registration = arrivals.add(call)
        all.forEach(call)
        return registration
    }

    /// Runs what follows them, and has the memory written when it ends.
    package func whileFollowed(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            await recent?.settle()
            throw error
        }
        await recent?.settle()
    }

    // MARK: Of an inbox

    /// - Parameter names: Those that count; empty for all.
    private func watch(
        _ inbox: Inbox, for names: [StoreName],
        _ watched: @escaping @Sendable (WatchedStore.Place, StoreName) -> WatchedStore,
        _ report: (SendEvent) -> Void
    ) throws {
        // What is not there may come.
        do throws(InboxError) { _ = try inbox.storeNames() } catch { if case .noInbox = error {} else { throw error } }
        look(into: inbox, for: names, watched)
        let there = all.map(\.name)
        let missing = names.filter { !there.contains($0) }
        if !missing.isEmpty || there.isEmpty { report(.awaits(missing, inbox: inbox.root)) }
        let look = { @Sendable [weak self] () -> Void in self?.look(into: inbox, for: names, watched) }
        lookAgain.withLock { $0 = look }
        try keep(InboxWatch(inbox, .automatic, notice: look))
    }

    /// Finds what has come into it. What is there may have changed.
    private func look(
        into inbox: Inbox, for names: [StoreName], _ watched: (WatchedStore.Place, StoreName) -> WatchedStore
    ) {
        let there = ((try? inbox.storeNames()) ?? []).filter { names.isEmpty || names.contains($0) }
            .map { HeldStore(inbox: inbox, name: $0) }.filter { $0.state != nil }
        let new = stores.withLock { stores in
            let new = there.filter { store in !stores.contains { $0.name == store.name } }.map {
                watched(.held($0), $0.name)
            }
            stores += new
            return new
        }
        new.forEach(arrivals.call)
        notice(nil)
    }
}
