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
        let sizes = stores.map { names.contains($0.name) ? 0 : $0.steps.packedSize }
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
        // What a step leaves out of its manifest is in the one before, the first of which an object has.
        let before = last.catalog.all.first { $0.to == last.catalog.newest }?.sha256
        guard let before, let bytes = try? await storage.beginning(of: before, upTo: Int64(Limits.messageSize)) else {
            return nil
        }
        var content = ManifestContent(ofShipment: bytes)
        let folder = try TemporaryFolder(in: producer.options.copy.temporaryFolder)
        for (number, inHead) in store.steps.enumerated() where inHead.step.counter > last.catalog.counter {
            guard let start = landmark, inHead.step.from == last.catalog.newest,
                let file = try? inHead.signed(over: content, by: sign).file(by: identity.certificate, over: content)
            else { return nil }
            content = ManifestContent(ofShipment: file)
            let object = try await storage.put(file, by: folder.path.appending("\(number)"))
            guard
                let catalog = StoreCatalog(
                    after: last, landmark: start, skip: inHead.step.stored(as: object), leap: nil, steps: [], nil),
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

extension ManifestContent {
    /// Of the shipment that begins so; `nil` where its manifest is longer.
    fileprivate init?(ofShipment bytes: [UInt8]) {
        var parser = FrameParser()
        parser.append(bytes)
        while let element = try? parser.next() {
            guard case .frame(.manifest(let manifest)) = element else { continue }
            self.init(of: manifest)
            return
        }
        return nil
    }
}
