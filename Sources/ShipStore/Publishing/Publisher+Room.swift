import ShipProtocol
import StoreFiles
import SystemPackage

/// Room in a head that is full.
extension Publisher {
    /// Writes a head over a known one; where that has no room, over the same with less in it of stores that stay as they are.
    ///
    /// - Parameters:
    ///   - names: The stores that change.
    ///   - write: Throws `.tooMany` where there is no room.
    func makingRoom(
        in known: KnownHead?, besides names: Set<StoreName> = [], _ write: (KnownHead?) async throws -> Int?
    ) async throws -> Int? {
        var known = known
        while true {
            do {
                return try await write(known)
            } catch PublicationError.tooMany(place) {
                guard let lighter = try await lightened(known, besides: names) else {
                    throw PublicationError.tooMany(place)
                }
                known = lighter
            }
        }
    }

    /// The same with the steps of some states in objects: of a quarter of them at a time, those that have the most in the head.
    ///
    /// - Returns: `nil` if nothing is left that could go.
    private func lightened(_ known: KnownHead?, besides names: Set<StoreName>) async throws -> KnownHead? {
        guard var known else { return nil }
        var (stores, moved) = (known.head.stores, 0)
        let sizes = stores.map { names.contains($0.name) || $0.steps.isEmpty ? 0 : $0.steps.bundle.count }
        let large = sizes.indices.filter { sizes[$0] > 0 }.sorted { sizes[$0] > sizes[$1] }
        for index in large where moved <= large.count / 4 {
            guard let store = try await withoutSteps(stores[index]) else { continue }
            stores[index] = store
            moved += 1
        }
        known.head = known.head.with(stores)
        return moved > 0 ? known : nil
    }

    /// A state whose steps lie in objects, each with a catalog of its own: there is no copy here over which to make a longer one.
    ///
    /// - Returns: `nil` if the last catalog cannot be read, they do not follow it, or a whole is due.
    private func withoutSteps(_ store: PublishedHead.Store) async throws -> PublishedHead.Store? {
        guard var (last, landmark) = try await PublishedEntry.catalogs(store, self) else { return nil }
        let folder = try TemporaryFolder(in: producer.options.copy.temporaryFolder)
        for (number, inHead) in store.steps.enumerated() where inHead.step.counter > last.catalog.counter {
            guard let start = landmark, inHead.step.from == last.catalog.newest else { return nil }
            let alone = inHead.signed(with: identity.certificate)
            let object = try await storage.put(alone.shipment, by: folder.path.appending("\(number)"))
            guard
                let catalog = StoreCatalog(
                    after: last, landmark: start, skip: alone.step.object(object.sha256), leap: nil, steps: [], nil),
                (try? StoreCatalog(decoding: catalog.encoded)) != nil
            else { return nil }
            last = StoreCatalog.KnownCatalog(
                catalog, at: try await storage.put(catalog.encoded, by: folder.path.appending("\(number).catalog")))
            if catalog.landmark == nil { landmark = last }
        }
        guard last.catalog.newest == store.newest else { return nil }
        return PublishedHead.Store(
            name: store.name, newest: store.newest, counter: store.counter, asOf: store.asOf, size: store.size,
            catalog: last.link.object, steps: [], rollout: store.rollout)
    }
}
