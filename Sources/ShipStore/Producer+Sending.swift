public import ShipLinks
import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
public import SystemPackage

extension Producer {
    /// Ships one compact copy of each store over a link that an app carries. The link is finished in the end, and the app closes it. The
    /// memory knows the receiver by its name.
    ///
    /// - Returns: In the order of the stores, with the consumer's receipts: then the copies are installed and durable.
    /// - Throws: Why the first one that failed did. The others have arrived all the same. `report` has been told of each.
    public func send(
        to link: some Link, named name: String, report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Delivery] {
        return try await ShipmentError.awaiting {
            let job = try await sendJob(report: report)
            let peer = PeerLink(link, to: name, finishingWithin: options.timeouts.idle)
            let deliveries = try await job.run(over: peer)
            // The shipments are acknowledged: an error of the link no longer matters.
            try? await peer.writer.finish()
            return deliveries
        }
    }

    /// Ships one compact copy of each store into a file, which is there as a whole or not at all. It never takes the place of something of a
    /// store that is sent.
    ///
    /// - Returns: In the order of the stores.
    /// - Throws: Why the first one that failed did.
    public func send(
        to path: FilePath, over overwriting: Overwriting = .shipments,
        report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Delivery] {
        return try await ShipmentError.awaiting {
            let job = try await sendJob(avoiding: path, report: report)
            return try await PeerLink.withLink(toFile: path, over: overwriting) { try await job.run(over: $0) }
        }
    }

    /// Finds the stores before a link is opened.
    ///
    /// - Parameter path: Where the shipments go: never a file of a store that is sent, of an inbox or of a kept copy, or the earlier
    ///   shipment, whatever the user allows to be replaced.
    /// - Throws: What is wrong with a store; `.operation(.kept)`, `.operation(.sameStore)`.
    package func sendJob(
        avoiding path: FilePath, report: @escaping @Sendable (SendEvent) -> Void
    ) async throws(ShipmentError) -> SendJob {
        // Where it cannot be told where the path leads, no file can be written either.
        try ShipmentError.wrapping { try (try? NamedStore(path))?.home.refuseIfKept(.write) }
        let target = try? PlatformCalls.statusFollowingLinks(of: path).identity
        let earlier = try? options.earlier.map { try PlatformCalls.statusFollowingLinks(of: $0).identity }
        if let target, target == earlier { throw .operation(.sameStore(path)) }
        return try await sendJob(report: report) { (store, _) throws(ShipmentError) in
            if store.owns(path) { throw .source(.partOfStore(path)) }
        }
    }

    /// - Parameter check: Called with each store and its path; throws if the shipments may not go where they are to go.
    package func sendJob(
        report: @escaping @Sendable (SendEvent) -> Void,
        checking check: (SourceStore, FilePath) throws(ShipmentError) -> Void = { (_, _) throws(ShipmentError) in }
    ) async throws(ShipmentError) -> SendJob {
        let start = ContinuousClock.now
        return try await ShipmentError.awaiting {
            try await SendJob(try shippable(checking: check), options, start: start, report: report)
        }
    }

    /// The stores that there are to ship.
    func shippable(checking check: (SourceStore, FilePath) throws(ShipmentError) -> Void) throws -> [Shippable] {
        guard let (inbox, names) = held else { return try sources(checking: check).map(Shippable.live) }
        let folder = try inbox.open()
        let all = try folder.storeNames().filter { try folder.currentName(of: $0) != nil }
        if let name = names.first(where: { !all.contains($0) }) { throw folder.noSuchStore(name) }
        if names.isEmpty, all.isEmpty { throw CoordinatorError.inbox(.noInbox(inbox.root)) }
        return (names.isEmpty ? all : names).map { .held(HeldStore(inbox: inbox, name: $0), nil) }
    }

    func sources(checking check: (SourceStore, FilePath) throws(ShipmentError) -> Void) throws -> [Source] {
        try named().map { path, name in
            let store = try SourceStore(at: path, options.copy)
            try check(store, path)
            return Source(store: store, path: path, name: name)
        }
    }

    /// Tells of each live store that cannot be found, where the following goes on all the same, and no session tells of it.
    package func reportMissing(to report: (SendEvent) -> Void) throws(ShipmentError) {
        for (path, name) in try named() {
            do { _ = try SourceStore(at: path, options.copy) } catch { report(.failed(name, ShipmentError(error))) }
        }
    }

    /// The live stores, which need not be there, and the names under which they are shipped.
    func named() throws(ShipmentError) -> [(path: FilePath, name: StoreName)] {
        guard held != nil || !stores.isEmpty else { throw .nothingToShip }
        var all: [(path: FilePath, name: StoreName)] = []
        for path in stores {
            let name = (stores.count == 1 ? options.name : nil) ?? StoreName(suggestedBy: path)
            guard !all.contains(where: { $0.name == name }) else { throw .sameName(name) }
            all.append((path, name))
        }
        return all
    }
}
