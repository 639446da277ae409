import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage

extension Publisher {
    /// What was there when this publisher has looked, as long as nothing says otherwise: each look is a request.
    struct Found {
        /// The stores of which all was there that the head leads to.
        var stores: Set<StoreName> = []
        /// With which keys, or with none, this device's certificate was there, and these keys.
        var certificates: Set<ContentDigest?> = []
        /// Whether something was gone that had been there: then the other stores are looked at as well.
        var isLost = false
    }

    /// Has everything looked at again, as something was gone that had been there.
    func forgetFound() { found.withLock { $0 = Found(isLost: true) } }

    /// Goes on after a head without the stores that are to be published and of which something is gone, or not as long as it was: they go anew, as a
    /// whole.
    func mended(_ known: KnownHead?, naming names: Set<StoreName>) async throws -> KnownHead? {
        guard let known else {
            // Everything goes anew.
            found.withLock { $0.stores.formUnion(names) }
            return nil
        }
        let unknown = names.subtracting(found.withLock(\.stores))
        var broken: Set<StoreName> = []
        for store in known.head.stores where unknown.contains(store.name) && !broken.contains(store.name) {
            if try await !isWhole(store) { broken.insert(store.name) }
        }
        if !broken.isEmpty { forgetFound() }
        found.withLock { [broken] in $0.stores.formUnion(unknown.subtracting(broken)) }
        guard !broken.isEmpty else { return known }
        var mended = known
        mended.head = known.head.with(known.head.stores.filter { !broken.contains($0.name) })
        mended.lost += broken.compactMap { known.head[$0] }
        return mended
    }

    /// Writes this device's certificate for who reads its heads, and the keys, unless they are there.
    func certify() async throws {
        let (keys, certificate) = (storage.keys, identity.certificate)
        guard !found.withLock({ $0.certificates.contains(keys) }) else { return }
        try await storage.mendKeys()
        let name = ContentDigest(sha256: identity.id.bytes)
        if (try? await storage.beginning(of: name, upTo: Int64(certificate.count) + 1)) != certificate {
            let folder = try TemporaryFolder(in: producer.options.copy.temporaryFolder)
            _ = try await storage.put(certificate, by: folder.path.appending("certificate"))
        }
        found.withLock { _ = $0.certificates.insert(keys) }
    }

    /// Whether all is there that leads to the newest state from nothing, or from what was published lately.
    private func isWhole(_ store: PublishedHead.Store) async throws -> Bool {
        guard let object = store.catalog else { return true }
        do {
            let catalog = try await storage.catalog(object, of: store.name, from: place)
            var objects = Set(catalog.objects)
            if let landmark = catalog.landmark?.object {
                objects.formUnion(try await storage.catalog(landmark, of: store.name, from: place).objects)
            }
            for object in objects {
                var end: Int64 = 0
                try await storage.object(object.sha256, from: object.size - 1, upTo: object.size + 1) {
                    end = $0 + Int64($1.count)
                }
                guard end == object.size else { return false }
            }
            return true
        } catch PublicationError.objectGone, PublicationError.badObject {
            return false
        }
    }
}

extension Publisher.KnownHead {
    /// The rollout of a state that goes anew as something of it is gone: it is as it was.
    func lostRollout(of store: PublishedHead.Store) -> [RolloutStage]? {
        lost.first { $0.name == store.name && $0.newest == store.newest }?.rollout
    }
}

extension StoreCatalog {
    /// The shipments and the bundle that it names.
    fileprivate var objects: [PublishedObject] {
        all.compactMap { step in step.sha256.map { PublishedObject(sha256: $0, size: step.size) } }
            + [bundle].compactMap(\.self)
    }
}

extension PublishedHead {
    /// The order to go on with other states of stores.
    func with(_ stores: [Store]) -> PublishedHead {
        PublishedHead(
            publication: publication, number: number, software: Software.name, issued: issued, expires: expires,
            next: next, before: before, sealing: sealing, halted: halted, stores: stores)
    }
}
