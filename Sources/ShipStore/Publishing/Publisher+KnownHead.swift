import DeviceTrust
import EssentialFoundation
import ShipProtocol
import Synchronization

/// The head that lies there, and how this device goes on with it.
extension Publisher {
    /// A head that lies there.
    struct KnownHead {
        /// As this device goes on with it: where that is another device's, without its stores.
        var head: PublishedHead
        let publisher: DeviceIdentifier
        let file: [UInt8]
        /// `nil` if nothing is in its place any more.
        var tag: String?
        /// The last heads of the devices before, the last one first, and behind them their certificates, as far as they are not among the
        /// objects yet, or not with these keys.
        var former: [[UInt8]] = []
        /// The stores that it lists and `head` does not: they are to be published anew.
        var outdated: Set<StoreName> = []
        /// The newest states of stores of which something is gone: `head` does not list them.
        var lost: [PublishedHead.Store] = []
    }

    /// The head that this one has written last, or else the one that lies there. If another has taken its place since, it cannot be replaced.
    func lastHead() async throws -> KnownHead? {
        let known = written.withLock { $0.take() }
        if let known, !storage.isLocal { return known }
        return try await head(after: known)
    }

    /// The head that lies there in the place of one that was known. Where it is gone, or is none any more, this one goes on with what it knows,
    /// without its stores: they go anew.
    ///
    /// - Throws: What `head()` throws, unless what lies there may be replaced.
    func head(after known: KnownHead?) async throws -> KnownHead? {
        var tag: String?
        do {
            if let found = try await head() {
                // With an older one, what has come since may be gone.
                if let known, found.head.number < known.head.number { forgetFound() }
                return found
            }
        } catch PublicationError.badHead(let place, let flaw) {
            guard let broken = try await begun(over: flaw, after: known) else {
                throw PublicationError.badHead(place, flaw)
            }
            guard known != nil else { return broken }
            tag = broken.tag
        }
        forgetFound()
        guard var known else { return nil }
        known.lost += known.head.stores
        // Where that is gone, too, there is no way from the device before.
        var before = known.head.before
        if known.former.isEmpty, let object = before, (try? await storage.bytes(of: object, from: place)) == nil {
            before = nil
        }
        known.head = known.head.withoutStores(before: before, known.head.sealing)
        known.tag = tag
        return known
    }

    /// What to begin with over what is no head: where this device has written one, and what lies there is nobody else's, or where the keys are
    /// gone, so that nobody can decrypt it any more. For whom it was is not known.
    private func begun(over flaw: ProtocolError, after known: KnownHead?) async throws -> KnownHead? {
        if case .versionNotSupported = flaw { return nil }
        guard case .head(let file, let tag, _) = try await storage.headAsItIs() else { return nil }
        let keys = (try? SealedHead(decoding: file))?.keys
        if let keys {
            // With other keys than those of this one, it may be another device's, as long as these are there.
            if keys != known?.head.sealing?.keys {
                guard let objects = try? await storage.objects(), !objects.contains(where: { $0.name == keys })
                else { return nil }
            }
        } else {
            let publisher = (try? HeadFile(decoding: file))?.publisher.bytes
            guard known != nil, publisher ?? identity.id.bytes == identity.id.bytes else { return nil }
        }
        let now = Timestamp(Date())
        let head = PublishedHead(
            publication: publication, number: 0, software: Software.name, issued: now, expires: now, next: nil,
            before: nil, sealing: keys.map { .init(keys: $0, recipients: $0) }, halted: [], stores: [])
        return KnownHead(head: head, publisher: identity.id, file: file, tag: tag)
    }

    /// The head that lies there; `nil` for none.
    ///
    /// - Throws: `.otherPublisher` unless it is this device's, or one that this device is to go on after; `.handedOver`, `.badHead`,
    ///   `.badSignature`, `.objectGone`, `.badObject`.
    func head() async throws -> KnownHead? {
        let (fetched, read): (FetchedHead, (file: HeadFile, publisher: DeviceIdentifier, certificate: [UInt8]))
        do {
            fetched = try await storage.head(unlike: nil, fresh: true)
            guard case .head(let bytes, _, _) = fetched else { return nil }
            read = try await storage.read(bytes, at: place, knowing: identity.certificate)
        } catch PublicationError.objectGone, PublicationError.badObject {
            let flaw: ForeignText = "its publisher's certificate, or the keys that it is encrypted with, are not there"
            throw PublicationError.badHead(place, FrameType.manifest.bad(flaw))
        }
        guard case .head(let bytes, let tag, let keys) = fetched else { return nil }
        let (file, publisher) = (read.file, read.publisher)
        let head = try file.head(at: place, encryptedWith: keys)
        let next = head.next.flatMap { DeviceIdentifier(bytes: $0.bytes) }
        if publisher == identity.id {
            if let next { throw PublicationError.handedOver(place, to: next) }
            // A backup that this device was restored from knows less.
            try await BlockingExecutor.run { try skipNumbers(to: head.number) }
            let outdated = try await head.stores.isEmpty ? listed(before: head, by: publisher) : []
            return KnownHead(head: head, publisher: publisher, file: bytes, tag: tag, outdated: outdated)
        }
        guard next == identity.id else { throw PublicationError.otherPublisher(place, publisher) }
        try await BlockingExecutor.run { try skipNumbers(to: head.number) }
        let last = PublishedObject(sha256: ContentDigest(hashing: bytes), size: Int64(bytes.count))
        return KnownHead(
            head: head.withoutStores(before: last, head.sealing), publisher: publisher, file: bytes, tag: tag,
            former: [bytes],
            outdated: try await head.stores.isEmpty ? listed(before: head, by: publisher) : Set(head.names))
    }

    /// The stores of the last head before that lists any: a device that has only halted some of them has published none.
    private func listed(before head: PublishedHead, by id: DeviceIdentifier) async throws -> Set<StoreName> {
        let former = try await storage.formerHeads(of: head, by: id, from: place)
        return Set(former.lazy.map { $0.head.names }.first { !$0.isEmpty } ?? [])
    }

    /// Goes on after a head for the recipients that are wanted: where it is for others, without its stores.
    ///
    /// - Throws: `.otherRecipients`, `.encrypted`.
    func addressed(_ known: KnownHead?, naming names: Set<StoreName>) async throws -> KnownHead? {
        guard let wanted = storage.wanted else {
            // The place does not say for whom: it may show what was there before.
            guard known?.head.sealing == nil else { throw PublicationError.encrypted(place) }
            return known
        }
        guard publishing.recipients.count < Limits.recipients else { throw PublicationError.tooMany(place) }
        guard let known else {
            try storage.begin()
            return nil
        }
        // What lay there meanwhile may have been no head, and not encrypted.
        if let sealing = known.head.sealing, sealing.recipients == wanted, sealing.keys == storage.keys { return known }
        let others = known.head.names.filter { !names.contains($0) }
        guard others.isEmpty else { throw PublicationError.otherRecipients(place, also: others) }
        var former = known.former
        while former.count <= Limits.formerPublishers {
            let last = try former.last.map { try HeadFile(decoding: $0).head().before } ?? known.head.before
            guard let last else { break }
            former.append(try await storage.bytes(of: last, from: place))
        }
        for file in former { former.append(try await storage.read(file, at: place).certificate) }
        try storage.begin()
        return KnownHead(
            head: known.head.withoutStores(before: known.head.before, storage.begun), publisher: known.publisher,
            file: known.file, tag: known.tag, former: former,
            outdated: known.outdated.union(known.head.names))
    }

    /// Has the numbers of this device go on above those of the head that lies there: so they rise for receivers too. Receivers of other
    /// stores take no number that is too far above the last.
    private func skipNumbers(to number: UInt64) throws {
        let last = try device.folder.lastCounter()
        guard number > last else { return }
        guard number - last < Limits.counterLead else {
            throw PublicationError.wentBack(place, from: number, to: last)
        }
        try device.folder.skipCounters(to: number)
    }
}

extension PublishedHead {
    /// The order to go on with where the stores are to be published anew.
    fileprivate func withoutStores(before: PublishedObject?, _ sealing: Sealing?) -> PublishedHead {
        PublishedHead(
            publication: publication, number: number, software: Software.name, issued: issued, expires: expires,
            next: nil, before: before, sealing: sealing, halted: halted, stores: [])
    }
}
