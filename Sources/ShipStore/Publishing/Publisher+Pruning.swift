import DeviceTrust
import EssentialFoundation
import ShipProtocol

extension Publisher {
    /// Removes the objects that nothing needs, and that no reader may still ask for.
    ///
    /// Another program may publish meanwhile: what it has written is younger than the grace. What this device has not published stays.
    package func prune(
        after grace: Duration, report: @Sendable (_ removed: Int, _ kept: Int) -> Void = { _, _ in }
    ) async throws -> (removed: Int, kept: Int) {
        let end = Timestamp(Date().addingTimeInterval(-(max(.zero, grace) / .seconds(1))))
        // Listed first: what comes after this is not even looked at.
        let objects = try await storage.objects()
        guard let known = try await head() else { throw PublicationError.nothingThere(place) }
        guard known.publisher == identity.id else { throw PublicationError.otherPublisher(place, known.publisher) }
        let former = try await storage.formerHeads(of: known.head, by: identity.id, from: place)
        let times = Dictionary(objects.map { ($0.name, $0.written) }) { first, _ in first }
        let written: (ContentDigest) -> Timestamp? = { times[self.storage.name(of: $0)] }
        var needed = Set(([known.head] + former.map(\.head)).compactMap(\.before?.sha256))
        let own = (ContentDigest(sha256: identity.id.bytes), identity.certificate)
        let certificates = Dictionary([own] + former.map { ($0.device, $0.certificate) }) { first, _ in first }
        needed.formUnion(certificates.keys)
        var stores = known.head.stores
        let keys = known.head.sealing?.keys
        // Until this device has gone on, the last head of the one before was the head. What was encrypted in another way is not looked at.
        if let last = known.head.before, written(last.sha256).map({ $0 >= end }) ?? true,
            let before = former.first?.head, before.sealing?.keys == keys
        {
            stores += before.stores
        }
        for store in stores { try await addNeeded(by: store, written, since: end, to: &needed) }
        let names = Set(needed.map(storage.name) + [keys].compactMap(\.self))
        if !names.isSubset(of: times.keys) { forgetFound() }
        // Until then, who has just read another head may read what was encrypted in another way.
        let isSettled = keys.map { times[$0].map { $0 < end } ?? false } ?? true
        // What a cache has shown, or what another program has replaced meanwhile, does not say what is needed.
        switch try await storage.head(unlike: known.tag, fresh: true) {
        case .unchanged, .head(known.file, _, _): break
        case .none, .head: throw PublicationError.contended(place)
        }
        var (removed, others) = (0, [ContentDigest]())
        do {
            defer { report(removed, objects.count - removed) }
            func remove(_ name: ContentDigest) async throws {
                try Task.checkCancellation()
                if try await storage.remove(name, writtenBefore: end) { removed += 1 }
            }
            // Catalogs first: where this breaks off, none leads to what is gone.
            for (name, written) in objects where !names.contains(name) && written < end {
                switch try await kind(of: name, certificates, isSettled: isSettled) {
                case .catalog: try await remove(name)
                case .other: others.append(name)
                case nil: break
                }
            }
            for name in others { try await remove(name) }
        }
        try await storage.abandonUploads(begunBefore: end)
        return (removed, objects.count - removed)
    }

    /// Adds the objects of a store that are needed: each catalog that was the last one since that time, with the way there from nothing; and of
    /// earlier ones the steps that are newer than the whole, or smaller together.
    private func addNeeded(
        by store: PublishedHead.Store, _ written: (ContentDigest) -> Timestamp?, since time: Timestamp,
        to needed: inout Set<ContentDigest>
    ) async throws {
        var (next, older, whole) = (store.catalog, Int64(0), nil as PublishedStep?)
        // Until when the next one was the last.
        var lastUntil: Timestamp?
        while let object = next {
            try Task.checkCancellation()
            let (catalog, start): (StoreCatalog, StoreCatalog?)
            let isLast = lastUntil.map { $0 >= time } ?? true
            do {
                catalog = try await storage.catalog(object, of: store.name, from: place)
                if isLast, let landmark = catalog.landmark?.object {
                    start = try await storage.catalog(landmark, of: store.name, from: place)
                    needed.insert(landmark.sha256)
                } else {
                    start = isLast ? catalog : nil
                }
            } catch PublicationError.objectGone where whole != nil, PublicationError.badObject where whole != nil {
                return
            }
            whole = whole ?? start?.whole
            if let whole, catalog.counter <= whole.counter {
                older += catalog.steps.reduce(0) { $0 + $1.size }
                guard isLast || older <= whole.size else { return }
            }
            needed.insert(object.sha256)
            // The leap to what is no landmark is for who takes the whole.
            let leaps = (isLast || catalog.whole != nil ? catalog.leaps : []) + (start?.leaps ?? [])
            needed.formUnion((leaps + catalog.skips).compactMap(\.step.sha256))
            needed.formUnion(catalog.steps.compactMap(\.sha256))
            needed.formUnion([catalog.bundle?.sha256, start?.whole?.sha256].compactMap(\.self))
            (next, lastUntil) = (catalog.before?.object, written(object.sha256))
        }
    }

    /// What this device, or one before it, has put under a name.
    private enum Kind { case catalog, other }

    /// What lies under a name, if it was encrypted here, is a catalog or keys, or a shipment or a head of this device or of one before it.
    ///
    /// - Parameters:
    ///   - certificates: Of these devices.
    ///   - isSettled: Whether this counts, too, for what is not encrypted as everything is now.
    /// - Returns: `nil` for what else may have such a name: it is not ours to remove.
    private func kind(
        of name: ContentDigest, _ certificates: [ContentDigest: [UInt8]], isSettled: Bool
    ) async throws -> Kind? {
        let bytes: [UInt8]
        do {
            if let content = try await storage.firstPiece(of: name, alsoBefore: isSettled) {
                return (try? StoreCatalog(decoding: content)) == nil ? .other : .catalog
            }
            guard isSettled else { return nil }
            guard certificates[name] == nil else { return .other }
            bytes = try await storage.beginning(ofName: name, upTo: Int64(max(Limits.catalogSize, Limits.headSize)))
        } catch PublicationError.objectGone {
            return nil
        }
        if ContentDigest(hashing: bytes) == name {
            if (try? StoreCatalog(decoding: bytes)) != nil { return .catalog }
            if PublicationKeys.areIn(bytes) { return .other }
        }
        if let head = try? HeadFile(decoding: bytes) {
            return certificates[head.publisher].flatMap { try? head.signer(by: $0) } == nil ? nil : .other
        }
        if let publisher = StoreCatalog.publisher(ofBundle: bytes) {
            return certificates[publisher] == nil ? nil : .other
        }
        var parser = FrameParser()
        parser.append(bytes)
        guard case .preamble(let preamble)? = try? parser.next(), preamble.role == .producer, preamble.mode == .oneWay,
            case .frame(.signature(let signature))? = try? parser.next()
        else { return nil }
        return certificates[ContentDigest(hashing: signature.certificate)] == nil ? nil : .other
    }
}
