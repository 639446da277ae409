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
    let consumer: Consumer
    let reader: SealedPublication
    let place: Endpoint
    let report: @Sendable (ReceiveReport) -> Void
    /// Whether it looks again and again: what fails in a single look is told by who looks.
    private let isFollowing: Bool
    /// How long to wait before a failure that may pass is tried again.
    private let patience: Duration
    /// The head that was read last, and is still to be looked at as long as there is one.
    private var tag: String?
    private var head: PublishedHead?
    private(set) var publisher: Succession?
    /// The publisher's.
    private(set) var certificate: [UInt8] = []
    /// The bundle that was read last, as long as steps of it are taken.
    var bundle: (object: PublishedObject, bytes: [UInt8])?
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
    private(set) var failures: [StoreName: Failure] = [:]

    struct Failure {
        let content: ManifestContent.ID
        let error: ShipmentError
        let time: ContinuousClock.Instant

        /// Whether another attempt may succeed: what lies there may be another at any time, and so may be who is allowed to read it.
        var mayPass: Bool {
            switch error {
            case .publication, .notAllowed, .install(.outOfSequence(_, .otherDevice)): true
            default: error.mayPass
            }
        }
    }

    /// How often to read the head anew, because an object has gone meanwhile, and how many objects to go around.
    private static let (mostReadings, mostMissing) = (3, 8)

    init(
        _ consumer: Consumer, to reader: any PublicationReader, at place: Endpoint, following isFollowing: Bool = true,
        patience: Duration = .seconds(10), report: @escaping @Sendable (ReceiveReport) -> Void
    ) {
        (self.consumer, self.place, self.report, self.patience) = (consumer, place, report, patience)
        self.isFollowing = isFollowing
        self.reader = SealedPublication(reader, at: place, as: consumer.options.trust.device)
        // What was killed on a way around.
        TemporaryFolder.sweep(TemporaryFolder.defaultParent, .temporary)
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

    // MARK: Stores

    /// - Throws: `.objectGone` as well, unless this is the last reading of the head.
    private func take(_ head: PublishedHead, isLastReading: Bool) async throws -> ([Receipt], [ShipmentError]) {
        var receipts: [Receipt] = []
        let halts = Dictionary(head.halted.map { ($0.name, $0.since) }) { first, _ in first }
        for name in head.names + halts.keys.filter({ !head.names.contains($0) }).sorted() {
            try Task.checkCancellation()
            if try isTrusted(with: name) { consumer.installer.note(halted: halts[name], of: name) }
            guard let store = try state(of: name, in: head) else {
                tell(haltedSince: halts[name], of: name)
                continue
            }
            if let failure = failures[store.name], failure.content == store.newest,
                !failure.mayPass || .now - failure.time < patience
            {
                continue
            }
            do {
                let receipt = try await take(store, haltedSince: halts[name], isLastReading: isLastReading)
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
                    // It was no session's; what goes on is told once. The first failure of a single look is thrown.
                    if failures[store.name]?.error != failure, isFollowing || !failures.isEmpty {
                        report(ReceiveReport(.disconnected(failure)))
                    }
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

    private func tell(haltedSince time: Timestamp?, of name: StoreName) {
        guard time != halts[name] else { return }
        halts[name] = time
        if let time { report(ReceiveReport(.halted(name, since: time))) }
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
        // Another device has numbers of its own; whether it may follow is decided where the store comes in.
        let record = try folder.originRecord(of: store.name)
        let isPublishers = publisher.map { record?.producer == ContentDigest(sha256: $0.device.bytes) } ?? true
        let counter = try isPublishers && !mayTakeOver(store.name) ? record?.highest ?? 0 : 0
        // Who is not trusted with a store says nothing of it, not even that it has not changed.
        guard try isTrusted(with: store.name) else { throw refused(.notAllowed(store.name, .sender), of: store.name) }
        if let current, held == store.newest || counter >= store.counter {
            if held != store.newest, halted == nil, let last = try folder.lastAllowedAgain(of: store.name),
                ManifestContent(of: last.manifest).id == store.newest
            {
                let start = ContinuousClock.now
                let step = try await Rollback.perform(
                    on: store.name, in: folder.inbox, to: last.number, checking: consumer.options.checking)
                let receipt = Receipt(step.to, .installed)
                report(ReceiveReport(.finished(receipt, .now - start)))
                return receipt
            }
            if held != store.newest,
                let refusal = try folder.refusal(of: store.name, cameLast: counter == store.counter)
            {
                tell(haltedSince: halted, of: store.name)
                guard halted == nil else { return nil }
                throw refused(.install(refusal), of: store.name)
            }
            guard !told.contains(store.name) else { return nil }
            guard held != store.newest || consumer.installer.isWhole(current) else {
                tell(haltedSince: halted, of: store.name)
                guard halted == nil else { return nil }
                return try await mend(current, store, above: counter)
            }
            told.insert(store.name)
            // A receiver that was killed may have left what a power cut could still remove.
            try consumer.installer.undisturbed(store.name) { try consumer.installer.makeDurable(current) }
            return Receipt(current, .unchanged)
        }
        tell(haltedSince: halted, of: store.name)
        guard halted == nil else { return nil }
        if record != nil, !isPublishers, try !mayTakeOver(store.name), !consumer.options.takesUnsigned {
            throw refused(.install(.outOfSequence(store.name, .otherDevice)), of: store.name)
        }
        // What came last may come again where it has gone.
        guard let current else { return try await takeAnew(store, above: max(counter, 1) - 1) }
        do {
            return try await take(store, from: held, above: counter)
        } catch {
            let (failure, bases) = (
                ShipmentError(error), [current, try folder.last(of: store.name)].compactMap(\.self)
            )
            // What came another way may have a number above that of the whole, and below that of the newest.
            let isAside = if case .publication(.noWay) = failure { true } else { false }
            guard isAside || bases.contains(where: { isOfNoUse($0, after: failure) }) else { throw error }
            return try await takeAnew(store, above: counter)
        }
    }

    /// Takes a store from nothing, though some of the way may have been taken before.
    private func takeAnew(_ store: PublishedHead.Store, above counter: UInt64) async throws -> Receipt? {
        do {
            return try await take(store, from: nil, above: counter)
        } catch PublicationError.noWay(let place, let name) {
            defer { bundle = nil }
            // Numbers that were accepted are not accepted again. The last one is, if it is higher, or that of what is damaged.
            let (route, search) = try await route(store, from: nil, above: 0, endingAbove: counter)
            return try await goAround(route[...], search, of: store, after: PublicationError.noWay(place, name))
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
            return try await takeAnew(store, above: before > 0 ? before - 1 : 0)
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
        for (place, step) in route.enumerated() {
            do {
                last = try await take(step, search, of: store, asLast: step == route.last) ?? last
            } catch {
                guard step != route.last, ShipmentError(error).isOfState else { throw error }
                last = try await goAround(route[place...], search, of: store, after: error)
                break
            }
        }
        told.insert(store.name)
        return last
    }

    /// Takes a step of what is held. The operator's permission to replace the store is for the last one alone.
    private func take(
        _ step: PublishedStep, _ search: StepSearch, of store: PublishedHead.Store, asLast isLast: Bool
    ) async throws -> Receipt? {
        let installer = consumer.installer
        let mayReplace = !isLast && installer.permitReplacing(store.name, false)
        defer { if mayReplace { installer.permitReplacing(store.name, true) } }
        return try await take(step, search, of: store, in: consumer, over: consumer)
    }

    /// A state on the way is refused, and a later one may be taken: the steps up to the one before the last are taken in a temporary inbox,
    /// which asks nothing of a state but that it is whole, and the last one builds on what is there.
    ///
    /// - Parameter refusal: Is thrown where that is no way.
    private func goAround(
        _ rest: ArraySlice<PublishedStep>, _ search: StepSearch, of store: PublishedHead.Store,
        after refusal: any Error
    ) async throws -> Receipt? {
        guard let final = rest.last else { throw refusal }
        do {
            let detour = try Detour(around: consumer)
            for step in rest.dropLast() {
                let bases = step == rest.first ? consumer : detour.consumer
                detour.consumer.installer.permitReplacing(store.name, true)
                _ = try await take(step, search, of: store, in: detour.consumer, over: bases)
            }
            return try await take(final, search, of: store, in: consumer, over: detour.consumer)
        } catch {
            let failure = ShipmentError(error)
            throw failure.isOfState || failure.mayPass || failure.breaksLink || failure == .stopped ? error : refusal
        }
    }

    private func route(
        _ store: PublishedHead.Store, from held: ManifestContent.ID?, above counter: UInt64,
        endingAbove ending: UInt64 = 0
    ) async throws -> ([PublishedStep], StepSearch) {
        let last = try held == nil ? nil : consumer.installer.folder.last(of: store.name)
        let lastContent = last.map { ManifestContent(of: $0.manifest).id }
        var search = StepSearch(
            for: store, from: held, or: lastContent, above: counter, endingAbove: ending, without: missing)
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
