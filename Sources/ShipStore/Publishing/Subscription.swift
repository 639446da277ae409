import DeviceTrust
import EssentialFoundation
import ShipLinks
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreInstall

/// The receiving side of a publication: reads the head, and brings each store to the content that it names.
///
/// Source: `Protocol/PUBLISHED.md` section 4.
final class Subscription {
    private let consumer: Consumer
    private let reader: SealedPublication
    private let place: Endpoint
    private let report: @Sendable (ReceiveReport) -> Void
    /// How long to wait before a failure that may pass is tried again.
    private let patience: Duration
    /// The head that was read last, and is still to be looked at as long as there is one.
    private var tag: String?
    private var head: PublishedHead?
    private var publisher: Succession?
    /// The publisher's.
    private var certificate: [UInt8] = []
    /// The bundle that was read last, as long as steps of it are taken.
    private var bundle: (object: PublishedObject, bytes: [UInt8])?
    /// Stores that were told to be as published.
    private var told: Set<StoreName> = []
    /// Since when stores are halted, as far as that was told.
    private var halts: [StoreName: Timestamp] = [:]
    /// The states that are not for this receiver yet, as far as that was told.
    private var waits: [StoreName: ManifestContent.ID] = [:]
    /// When each store was last as published, as far as that is noted.
    private var noted: [StoreName: Timestamp] = [:]
    /// The objects of a store that are not there, or are others, while it is taken without them.
    private var missing: Set<ContentDigest> = []
    /// The failures by store: each is tried again when something else is published, or the cause may have passed.
    private var failures: [StoreName: Failure] = [:]

    private struct Failure {
        let content: ManifestContent.ID
        let error: ShipmentError
        let time: ContinuousClock.Instant

        /// Whether another attempt may succeed: what lies there may be another at any time, and so may be who is allowed to read it.
        var mayPass: Bool { if case .publication = error { true } else { error.mayPass } }
    }

    /// How often to read the head anew, because an object has gone meanwhile, and how many objects to go around.
    private static let (mostReadings, mostMissing) = (3, 8)

    init(
        _ consumer: Consumer, to reader: any PublicationReader, at place: Endpoint, patience: Duration = .seconds(10),
        report: @escaping @Sendable (ReceiveReport) -> Void
    ) {
        (self.consumer, self.place, self.report, self.patience) = (consumer, place, report, patience)
        self.reader = SealedPublication(reader, at: place, as: consumer.options.trust.device)
    }

    /// Reads the head if it is another one, and takes what is new.
    ///
    /// - Returns: Receipts of what was installed; at the first call also of what is current already. And why stores failed.
    func look() async throws -> (receipts: [Receipt], failures: [ShipmentError]) {
        var readings = 1
        while true {
            let head = try await newestHead()
            do {
                return try await take(head, isLastReading: readings == Self.mostReadings)
            } catch ShipmentError.publication(.objectGone) where readings < Self.mostReadings {
                // It was removed between two requests: then there is another head.
                tag = nil
                readings += 1
            }
        }
    }

    // MARK: The head

    private func newestHead() async throws -> PublishedHead {
        do {
            return try await head(fresh: false)
        } catch PublicationError.wentBack {
            // A cache may show an old one. Where it is written there is no other.
            return try await head(fresh: true)
        }
    }

    private func head(fresh isFresh: Bool) async throws -> PublishedHead {
        switch try await reader.head(unlike: head == nil ? nil : tag, fresh: isFresh) {
        case .none: throw PublicationError.nothingThere(place)
        case .unchanged:
            guard let head else { throw PublicationError.nothingThere(place) }
            try checkTime(of: head)
            return head
        case .head(let bytes, let tag, let keys):
            let seen = SeenPublication(folder: consumer.installer.folder, reader: reader, place: place)
            let (new, publisher, certificate) = try await seen.admit(bytes, encryptedWith: keys) {
                try stores(of: $0) != nil
            }
            // Also one that has expired is not followed by an older one.
            try checkTime(of: new)
            (head, self.publisher, self.certificate, self.tag) = (new, publisher, certificate, tag)
            return new
        }
    }

    private func checkTime(of head: PublishedHead) throws(PublicationError) {
        guard head.expires.date > Date() else { throw .expired(place, since: head.expires) }
    }

    /// The stores that a device may send here; `nil` if it may send none.
    private func stores(of publisher: Succession) throws(ShipmentError) -> TrustedPeer.Stores? {
        let trust = consumer.options.trust
        guard !consumer.options.takesUnsigned, let list = try trust.list(), !list.isEmpty,
            try !trust.isOwn(publisher.device)
        else { return .all }
        return list.stores(sentBy: publisher)
    }

    // MARK: Stores

    /// - Throws: `.objectGone` as well, unless this is the last reading of the head.
    private func take(_ head: PublishedHead, isLastReading: Bool) async throws -> ([Receipt], [ShipmentError]) {
        var receipts: [Receipt] = []
        for name in head.names {
            try Task.checkCancellation()
            let halted = head.halted.first { $0.name == name }?.since
            consumer.installer.note(halted: halted, of: name)
            guard let store = try state(of: name, in: head) else { continue }
            if let failure = failures[store.name], failure.content == store.newest,
                !failure.mayPass || .now - failure.time < patience
            {
                continue
            }
            do {
                let receipt = try await take(store, haltedSince: halted, isLastReading: isLastReading)
                if let receipt { receipts.append(receipt) }
                failures[store.name] = nil
                if receipt != nil || noted[store.name] != store.asOf { note(store) }
            } catch {
                let failure = ShipmentError(error)
                switch failure {
                case .publication(.objectGone) where !isLastReading:
                    consumer.note(failure, of: store.name)
                    throw failure
                case .publication(.badObject), .publication(.badStep), .publication(.noWay), .publication(.objectGone),
                    .publication(.status), .publication(.storage), .publication(.badAnswer):
                    // It was no session's; what goes on is told once.
                    if failures[store.name]?.error != failure { report(ReceiveReport(.disconnected(failure))) }
                    consumer.note(failure, of: store.name)
                case .stopped, .publication: throw failure
                default:
                    if failure.breaksLink { throw failure }
                    // What failed before a session was one is noted by nobody else.
                    consumer.note(failure, of: store.name)
                }
                failures[store.name] = Failure(content: store.newest, error: failure, time: .now)
            }
        }
        return (receipts, head.names.compactMap { failures[$0]?.error })
    }

    /// The state of a store that is for this receiver now; `nil` for none.
    private func state(of name: StoreName, in head: PublishedHead) throws -> PublishedHead.Store? {
        let states = head.states(of: name)
        guard let newest = states.first, newest.rollout != nil else { return states.first }
        // Who is no device of its own is the last one.
        let place =
            try consumer.options.trust.device.map { head.place(of: try $0.identity().id) } ?? RolloutStage.all - 1
        let state = states.state(for: place, at: Timestamp(Date()))
        if state != newest, waits.updateValue(newest.newest, forKey: name) != newest.newest {
            report(ReceiveReport(.waiting(name, until: newest.start(for: place))))
        }
        return state
    }

    /// Takes a store. Where an object is not there, or is another one, and the head says nothing else, another way may lead to the same.
    ///
    /// - Returns: `nil` if nothing was to be done, and that was told before.
    private func take(
        _ store: PublishedHead.Store, haltedSince halted: Timestamp?, isLastReading: Bool
    ) async throws -> Receipt? {
        defer { missing = [] }
        var first: (any Error)?
        while true {
            do {
                return try await take(store, haltedSince: halted)
            } catch {
                switch ShipmentError(error) {
                case .publication(.objectGone(_, let it)) where isLastReading, .publication(.badObject(_, let it)):
                    first = first ?? error
                    guard missing.count < Self.mostMissing, missing.insert(it).inserted else { throw first ?? error }
                case .publication(.noWay): throw first ?? error
                default: throw error
                }
            }
        }
    }

    private func take(_ store: PublishedHead.Store, haltedSince halted: Timestamp?) async throws -> Receipt? {
        let folder = consumer.installer.folder
        if let publisher, try stores(of: publisher)?.contains(store.name) == true {
            try consumer.installer.handOver(
                store.name, from: publisher.former.map { ContentDigest(sha256: $0.bytes) },
                to: ContentDigest(sha256: publisher.device.bytes))
        }
        let current = try? folder.current(of: store.name)
        let held = current.map { ManifestContent(of: $0.manifest).id }
        let counter = (try folder.originRecord(of: store.name))?.highest ?? 0
        if let current, held == store.newest || counter >= store.counter {
            guard told.insert(store.name).inserted else { return nil }
            guard held != store.newest || consumer.installer.isWhole(current) else {
                return try await mend(current, store, above: counter)
            }
            // A receiver that was killed may have left what a power cut could still remove.
            try consumer.installer.undisturbed(store.name) { try consumer.installer.makeDurable(current) }
            return Receipt(current, .unchanged)
        }
        if halted != halts[store.name] {
            halts[store.name] = halted
            if let halted { report(ReceiveReport(.halted(store.name, since: halted))) }
        }
        guard halted == nil else { return nil }
        do {
            return try await take(store, from: held, above: counter)
        } catch {
            guard let current, isOfNoUse(current, after: ShipmentError(error)) else { throw error }
            return try await take(store, from: nil, above: counter)
        }
    }

    /// Whether a shipment failed because of what is held: it came from another device, nobody knows from which, or it is damaged.
    private func isOfNoUse(_ held: Generation, after failure: ShipmentError) -> Bool {
        if case .missingBase = failure { return true }
        return failure != .stopped && !failure.breaksLink && !consumer.installer.isWhole(held)
    }

    /// Takes the newest state again, where the copy of it is damaged, and the publication has a whole of it.
    private func mend(
        _ damaged: Generation, _ store: PublishedHead.Store, above counter: UInt64
    ) async throws -> Receipt? {
        let before = min(counter, store.counter)
        do {
            return try await take(store, from: nil, above: before > 0 ? before - 1 : 0)
        } catch PublicationError.noWay {
            throw InboxError.mismatch(damaged.storePath)
        }
    }

    private func take(
        _ store: PublishedHead.Store, from held: ManifestContent.ID?, above counter: UInt64
    ) async throws -> Receipt? {
        try checkAllowed(store)
        var last: Receipt?
        defer { bundle = nil }
        let (route, search) = try await route(store, from: held, above: counter)
        for step in route {
            last = try await take(step, search, of: store) ?? last
            // Its publisher has signed something else than it says.
            guard let current = try consumer.installer.folder.current(of: store.name),
                ManifestContent(of: current.manifest).id == step.to
            else { throw PublicationError.badStep(place, store.name) }
        }
        told.insert(store.name)
        return last
    }

    /// Refuses what a session would refuse, before anything of it is fetched.
    private func checkAllowed(_ store: PublishedHead.Store) throws {
        let allowed = consumer.options.budget.storeSize
        let objection: ShipmentError
        if let publisher, try stores(of: publisher)?.contains(store.name) == false {
            objection = .notAllowed(store.name, .sender)
        } else if store.size > allowed {
            objection = .tooMuch(.storeSize(store.size, allowed: allowed))
        } else if let hold = try consumer.installer.folder.hold(of: store.name) {
            objection = .install(hold)
        } else {
            return
        }
        // What goes on is told once.
        if failures[store.name]?.error != objection {
            consumer.nextSession(link(to: ClosedSide()), report).refuse(store.name, objection)
        }
        throw objection
    }

    private func route(
        _ store: PublishedHead.Store, from held: ManifestContent.ID?, above counter: UInt64
    ) async throws -> ([PublishedStep], StepSearch) {
        let last = try held == nil ? nil : consumer.installer.folder.lastContent(of: store.name)
        var search = StepSearch(for: store, from: held, or: last?.id, above: counter, without: missing)
        var route = search.route
        for number in 0..<Limits.catalogs {
            guard let object = search.next(beyond: route) else { break }
            do {
                search.add(try await reader.catalog(object, of: store.name, from: place), at: object)
            } catch PublicationError.objectGone where number > 0 {
                // So old that nobody is to need it.
                search.skip(object)
            }
            route = search.route
        }
        guard let route else { throw PublicationError.noWay(place, store.name) }
        return (route, search)
    }

    private func take(
        _ step: PublishedStep, _ search: StepSearch, of store: PublishedHead.Store
    ) async throws -> Receipt? {
        guard let digest = step.sha256 else {
            var steps = store.steps
            if let catalog = search.catalog(ofBundled: step), let bundle = catalog.bundle,
                !steps.contains(where: { $0.step == step })
            {
                if self.bundle?.object != bundle {
                    self.bundle = (bundle, try await reader.bytes(of: bundle, from: place))
                }
                guard let found = try? catalog.shipments(in: self.bundle?.bytes ?? []) else {
                    throw PublicationError.badObject(place, bundle.sha256)
                }
                steps = found
            }
            guard let found = steps.first(where: { $0.step == step }) else { return nil }
            let base = try consumer.installer.folder.content(before: step, of: store.name)
            guard let file = try? found.file(by: certificate, over: base) else {
                throw PublicationError.badStep(place, store.name)
            }
            return try await install(link(to: ClosedSide(), isSigned: true).prefixed(with: file), of: store.name)
        }
        do {
            let object = PublishedObject(sha256: digest, size: step.size)
            let receipt = try await install(link(to: try await fetch(object)), of: store.name)
            consumer.installer.removeObject(digest)
            return receipt
        } catch {
            // What has come of it is of use as long as the rest may come.
            let failure = ShipmentError(error)
            if failure != .stopped, !failure.breaksLink { consumer.installer.removeObject(digest) }
            throw error
        }
    }

    /// Brings all of an object, after what has come of it before.
    private func fetch(_ object: PublishedObject) async throws -> FileStream {
        let part = try consumer.installer.openObject(object.sha256)
        let known = try part.status.size
        if known > 0, known <= object.size, try await bring(object, into: part, from: known) {
            return FileStream(part)
        }
        // What has its name is no part of it, or was damaged, as after a power cut. It is replaced, and not written to.
        consumer.installer.removeObject(object.sha256)
        let file = try consumer.installer.openObject(object.sha256)
        guard try await bring(object, into: file, from: 0) else {
            throw PublicationError.badObject(place, object.sha256)
        }
        return FileStream(file)
    }

    /// Brings the rest of an object.
    ///
    /// - Returns: Whether it has its size and its digest.
    private func bring(
        _ object: PublishedObject, into file: borrowing OpenFile, from offset: Int64
    ) async throws -> Bool {
        let room = try consumer.installer.reserveRoom(for: object.size - offset)
        defer { withExtendedLifetime(room) {} }
        var isLonger = false
        if offset < object.size {
            try await reader.object(object.sha256, from: offset, upTo: object.size + 1) { offset, piece in
                isLonger = isLonger || offset + Int64(piece.count) > object.size
                if !isLonger { try file.write(piece, at: offset) }
            }
        }
        return try !isLonger && file.status.size == object.size && ContentDigest(ofFile: file) == object.sha256
    }

    private func install(_ link: PeerLink, of name: StoreName) async throws -> Receipt? {
        try await consumer.receive(over: link, .never, report).first { $0.name == name }
    }

    private func link(to shipment: some LinkReader, isSigned: Bool = false) -> PeerLink {
        PeerLink(
            direction: .oneWay, isFile: true, reader: shipment, writer: ClosedSide(), peer: .at(place),
            signer: publisher, isSigned: isSigned)
    }

    /// Notes that the store is as published, whatever failed before, and how old it is: the publisher says when it was still so, by its own
    /// clock. A clock that is behind that one says nothing.
    private func note(_ store: PublishedHead.Store) {
        guard let current = try? consumer.installer.folder.current(of: store.name),
            ManifestContent(of: current.manifest).id == store.newest
        else { return }
        consumer.installer.noteSuccess(of: store.name)
        let age = Date().timeIntervalSince(store.asOf.date)
        guard age >= 0 else { return }
        consumer.installer.note(asOf: PlatformCalls.timeSinceStart - .seconds(age), current.folderName, of: store.name)
        noted[store.name] = store.asOf
    }
}
