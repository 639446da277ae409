import DeviceTrust
import EssentialFoundation
import ShipLinks
import ShipProtocol
import StoreFiles
import StoreOperations
import Synchronization
import SystemPackage

/// Publishes stores: makes shipments of each new version, and a head that names them.
///
///     StoreVersion -> PublishedEntry (shipments -> objects -> catalog) -> head
///
/// What a head names is there before the head is.
package final class Publisher: Sendable {
    let producer: Producer
    let storage: SealedStorage
    /// Where that is.
    let place: Endpoint
    let identity: DeviceIdentity
    let device: Device
    let publishing: Publishing
    private let report: @Sendable (SendEvent) -> Void
    /// The head that this one has written last, to go on with it unread; `nil` if another may be there.
    let written = Mutex<KnownHead?>(nil)
    let found = Mutex(Found())
    /// How often to begin anew because another program has published meanwhile.
    private static let mostAttempts = 10
    private static let timeToFinish = Duration.seconds(5)

    /// - Throws: What is wrong with this device's identity, which is made if there is none; `.operation(.kept)`.
    package init(
        _ producer: Producer, to storage: any PublicationStorage, at place: Endpoint, _ publishing: Publishing,
        report: @escaping @Sendable (SendEvent) -> Void
    ) throws(ShipmentError) {
        if case .folder(let folder) = place { try ShipmentError.wrapping { try KeptPlace.refuseToFill(folder) } }
        guard let device = producer.options.knownDevice else { throw .identity(.notMade) }
        (self.producer, self.place, self.publishing) = (producer, place, publishing)
        (self.device, self.report) = (device, report)
        self.storage = try SealedStorage(
            storage, at: place, as: device, for: publishing.recipients, in: producer.options.copy.temporaryFolder)
        identity = try device.identity()
    }

    /// Publishes each store as it is now.
    ///
    /// - Throws: Why the first one that failed did. The others are published all the same; `report` has been told of each.
    package func publish() async throws -> [Delivery] {
        // What a killed one has left, also where no store has changed.
        TemporaryFolder.sweep(producer.options.copy.temporaryFolder, .temporary)
        let sources = try producer.sources { (store, path) throws(ShipmentError) in
            if case .folder(let folder) = place, store.owns(folder) { throw .source(.partOfStore(path)) }
        }
        let results = try await publish(sources.map { order(of: $0) })
        return try results.map { try $0.get() }
    }

    /// Publishes each store, and each settled change of it, until the task is cancelled.
    package func follow(_ following: Following) async throws {
        let watched = try WatchedStores(of: producer, following, isShared: false)
        let follower = StoreFollower(producer, following, watched, report: report)
        // What goes on failing is told once.
        var failure: ShipmentError?
        try await follower.publish(reissuing: publishing.reissuing) { [self] stores, cause in
            if cause == .time {
                found.withLock { $0.certificates = [] }
                do {
                    _ = try await prune(after: publishing.grace)
                    failure = nil
                } catch {
                    // Who may publish need not be allowed to list, or to remove: then each is looked at.
                    let error = ShipmentError(error)
                    if error == .stopped { throw error }
                    forgetFound()
                    if failure != error { report(.disconnected(error)) }
                    failure = error
                }
            }
            _ = try await publish(stores.compactMap { order(of: $0) })
            // Whoever keeps the place may have removed something, or put an older head there.
            guard found.withLock(\.isLost) else { return }
            let others = follower.stores.filter { store in store.end == nil && !stores.contains { $0 === store } }
            if !others.isEmpty { _ = try await publish(others.compactMap { order(of: $0) }) }
            found.withLock { $0.isLost = false }
        }
    }

    /// Where the store cannot be found now, its order says so, and the others go.
    private func order(of store: FollowedStore) -> PublishedOrder? {
        do {
            guard case .live(let source) = try store.watched.shippable() else { return nil }
            return order(of: source) { store.follow($0) {} }
        } catch {
            let failure = ShipmentError(error)
            let order = ProducerSession.Order(
                prepare: { throw failure }, ended: { [report] in report(SendEvent($0, of: store.name)) })
            return PublishedOrder(name: store.name, order: store.follow(order) {}, bases: nil)
        }
    }

    /// - Parameter following: Lets who follows the store hear what becomes of the order.
    private func order(
        of source: Producer.Source, following: (ProducerSession.Order) -> ProducerSession.Order = { $0 }
    ) -> PublishedOrder {
        let options = producer.options
        let continuity = StoreContinuity(of: source, to: storage.nameInMemory(at: place), options)
        let bases = options.memory.map {
            RememberedBases(in: $0, of: source.store.path, named: source.name, options.copy.profile)
        }
        let order = ProducerSession.Order(
            unchanged: { await bases?.unchanged(source.state, metadata: options.metadata) },
            prepare: { [self] in
                try await continuity?.check(replacing: options.replaces)
                let job = try await SendJob([], options, start: .now, report: report)
                let (version, duration) = try await job.version(of: source, for: bases)
                if let duration { report(.copied(version.manifest, duration)) }
                return OutgoingShipment(version, copiedIn: duration, options)
            },
            ended: { [report] in report(SendEvent($0, of: source.name)) },
            settled: { result in
                if case .success(let delivery) = result { continuity?.note(delivery.manifest) }
            })
        return PublishedOrder(name: source.name, order: following(order), bases: bases)
    }

    // MARK: The head

    /// What a publication is called that this device begins.
    var publication: ContentDigest {
        ContentDigest(hashing: identity.id.bytes + Array(storage.nameInMemory(at: place).utf8))
    }

    /// Publishes the stores of orders, in one head.
    private func publish(_ orders: [PublishedOrder]) async throws -> [Result<Delivery, ShipmentError>] {
        let start = ContinuousClock.now
        let names = Set(orders.map(\.name))
        if storage.isLocal { found.withLock { ($0.stores, $0.certificates) = ([], []) } }
        let known = try await mended(try await addressed(try await lastHead(), naming: names), naming: names)
        var versions: [PublishedVersion?] = []
        var results: [Result<Delivery, ShipmentError>?] = []
        for order in orders {
            do {
                versions.append(try await order.version(unlike: known?.head))
                results.append(nil)
            } catch {
                let failure = ShipmentError(error)
                if failure == .stopped { throw failure }
                versions.append(nil)
                results.append(.failure(failure))
                order.order.ended(.failure(failure))
            }
        }
        // A head would say nothing new.
        guard versions.contains(where: { $0 != nil }) else { return results.compactMap(\.self) }
        let unread = zip(orders, versions).compactMap { $1 == nil ? $0.name : nil }
        let changing = Set(versions.compactMap { $0?.shipment == nil ? nil : $0?.name })
        var entries = versions.map { _ in Made() }
        let attempt = { [self] (known: KnownHead?) async throws -> Int? in
            let known = try await mended(try await addressed(known, naming: names), naming: names)
            // Where all that is there goes anew, who begins would not find any more what is left out.
            if let missing = known?.outdated.intersection(unread), !missing.isEmpty {
                throw IncompleteHead(missing: missing.sorted())
            }
            return try await makingRoom(in: known, besides: changing) { known in
                for (index, version) in versions.enumerated() {
                    guard let version else { continue }
                    let (last, before) = (entries[index], known?.head[version.name])
                    // What another program has published of other stores changes nothing here.
                    if last.entry != nil, last.before == before, last.keys == storage.keys { continue }
                    entries[index] = try await made(version, after: before, of: orders[index])
                }
                while true {
                    do {
                        return try await replace(known, with: entries.compactMap(\.entry?.store), publishing.rollout)
                    } catch PublicationError.tooMany(place) {
                        // What has the most in the head goes into objects: of a quarter of the stores at a time.
                        let bytes = entries.map { $0.entry?.bytesInHead ?? 0 }
                        let large = bytes.indices.filter { bytes[$0] > 0 }.sorted { bytes[$0] > bytes[$1] }
                        guard !large.isEmpty else { throw PublicationError.tooMany(place) }
                        for index in large.prefix(max(1, entries.count / 4)) {
                            guard let version = versions[index] else { continue }
                            entries[index] = try await made(
                                version, after: entries[index].before, of: orders[index], in: .objects)
                        }
                    }
                }
            }
        }
        let bytes: Int
        do {
            bytes = try await write(over: known, rereading: head, attempt)
        } catch let error as IncompleteHead {
            let failure = ShipmentError.publication(.incomplete(place, without: error.missing))
            for (index, order) in orders.enumerated() where results[index] == nil {
                results[index] = .failure(failure)
                order.order.ended(.failure(failure))
            }
            return results.compactMap(\.self)
        }
        for (index, version) in versions.enumerated() {
            guard let entry = entries[index].entry, let version else { continue }
            await finish { [storage, place, bases = orders[index].bases] in
                entry.remember(version, bases, at: storage.nameInMemory(at: place))
            }
            let delivery = Delivery(
                manifest: version.manifest, receipt: nil, bytesSent: entry.bytesSent + Int64(bytes),
                store: entry.encoded, duration: .now - start)
            results[index] = .success(delivery)
            orders[index].order.ended(.success(delivery))
            orders[index].order.settled(.success(delivery))
        }
        return results.compactMap(\.self)
    }

    /// An entry, and what it was made for.
    private struct Made {
        var before: PublishedHead.Store?
        /// With which its objects are encrypted.
        var keys: ContentDigest?
        var entry: PublishedEntry?
    }

    private func made(
        _ version: PublishedVersion, after before: PublishedHead.Store?, of order: PublishedOrder,
        in target: PublishedEntry.Target = .head
    ) async throws -> Made {
        let keys = storage.keys
        let copies = order.bases?.bases ?? []
        return Made(
            before: before, keys: keys,
            entry: try await PublishedEntry(of: version, after: before, over: copies, in: target, self))
    }

    /// A head would leave out stores that lie there.
    private struct IncompleteHead: Error {
        let missing: [StoreName]
    }

    /// Tries until a head is the newest.
    ///
    /// - Parameters:
    ///   - reread: Returns what lies there now in the place of a head.
    ///   - attempt: Writes one over the head that it is given, and returns its size; `nil` if another one has come first.
    private func write(
        over known: KnownHead?, rereading reread: (KnownHead?) async throws -> KnownHead?,
        _ attempt: (KnownHead?) async throws -> Int?
    ) async throws -> Int {
        var known = known
        for number in 1... {
            if let size = try await attempt(known) { return size }
            guard number < Self.mostAttempts else { break }
            try await Task.sleep(for: .milliseconds(Int.random(in: 10...200)))
            known = try await reread(known)
        }
        throw PublicationError.contended(place)
    }

    /// Changes what the head says beside what is new.
    ///
    /// - Parameters:
    ///   - halting: Returns which stores are halted.
    ///   - releasing: Returns the stores whose newest state is for all followers from now on.
    func update(
        handingOverTo next: DeviceIdentifier? = nil,
        halting: (KnownHead) throws -> [PublishedHead.HaltedStore] = { $0.head.halted },
        releasing: (KnownHead) throws -> Set<StoreName> = { _ in [] }
    ) async throws {
        _ = try await write(over: try await head(), rereading: { _ in try await head() }) { known in
            try await makingRoom(in: known) { known in
                guard let known else { throw PublicationError.nothingThere(place) }
                return try await replace(known, releasing: releasing(known), halted: halting(known), next: next)
            }
        }
    }

    /// Writes a head with these entries in the place of the known one.
    ///
    /// - Parameters:
    ///   - rollout: Of those that are new; `nil` for all followers at once.
    ///   - released: The stores whose newest state is for all from now on.
    ///   - halted: The stores that are halted; `nil` for those that are.
    ///   - next: The device that goes on after this one.
    /// - Returns: Its size, in bytes; `nil` if it is not the head now, as another program has published meanwhile.
    private func replace(
        _ known: KnownHead?, with entries: [PublishedHead.Store] = [], _ rollout: Rollout? = nil,
        releasing released: Set<StoreName> = [], halted: [PublishedHead.HaltedStore]? = nil,
        next: DeviceIdentifier? = nil
    ) async throws -> Int? {
        for (number, file) in (known?.former ?? []).enumerated() {
            let folder = try TemporaryFolder(in: producer.options.copy.temporaryFolder)
            _ = try await storage.put(file, by: folder.path.appending("\(number)"))
        }
        try await certify()
        let number = try await BlockingExecutor.run { try device.nextCounter() }
        if let known = known?.head.number, number <= known {
            throw PublicationError.wentBack(place, from: known, to: number)
        }
        let now = Date()
        let states = states(
            after: known, with: entries, rollout?.stages(from: now), releasing: released, at: Timestamp(now))
        let head = PublishedHead(
            publication: known?.head.publication ?? publication,
            number: number, software: Software.name, issued: Timestamp(now),
            expires: Timestamp(now.addingTimeInterval(publishing.validity / .seconds(1))),
            next: next.map { ContentDigest(sha256: $0.bytes) }, before: known?.head.before,
            sealing: known == nil ? storage.begun : known?.head.sealing,
            halted: halted ?? known?.head.halted ?? [], stores: states)
        let bytes = try identity.sign(head).encoded
        guard (try? HeadFile(decoding: bytes).head()) == head else {
            throw PublicationError.tooMany(place)
        }
        do {
            guard let tag = try await storage.replaceHead(tagged: known?.tag, with: bytes) else {
                return await isHead(bytes) ? bytes.count : nil
            }
            if !tag.isEmpty, next == nil {
                let new = KnownHead(head: head, publisher: identity.id, file: bytes, tag: tag)
                written.withLock { $0 = new }
            }
        } catch let error where !(error is FileError) && error as? PublicationError != .tooMany(place) {
            // It may be there all the same, if only the answer was lost, or was not waited for.
            guard await isHead(bytes) else { throw error }
        }
        return bytes.count
    }

    /// Does what a head that may have been written makes necessary, also where the task is cancelled meanwhile: then it has a few seconds.
    private func finish<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        let task = Task { await body() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            Task {
                try? await Task.sleep(for: Self.timeToFinish)
                task.cancel()
            }
        }
    }

    /// The states of all stores once these are published.
    private func states(
        after known: KnownHead?, with entries: [PublishedHead.Store], _ rollout: [RolloutStage]?,
        releasing released: Set<StoreName>, at time: Timestamp
    ) -> [PublishedHead.Store] {
        let head = known?.head
        let new = entries.flatMap { entry in
            let stages = rollout ?? known?.lostRollout(of: entry)
            return (head?.states(of: entry.name) ?? []).publishing(entry, stages, at: time)
        }
        let names = Set(entries.map(\.name))
        let others = (head?.names ?? []).filter { !names.contains($0) }.flatMap { name in
            let states = head?.states(of: name).needed(at: time) ?? []
            return released.contains(name) ? states.prefix(1).map { $0.rolledOut(nil) } : states
        }
        return new + others
    }

    /// Signs the payload of a MANIFEST.
    func sign(_ payload: [UInt8]) throws -> Signature {
        try identity.signature(ofManifest: payload, version: Preamble.spokenVersions.upperBound)
    }

    private func isHead(_ bytes: [UInt8]) async -> Bool {
        await finish { [storage] in
            guard case .head(bytes, _, _)? = try? await storage.head(unlike: nil, fresh: true) else { return false }
            return true
        }
    }
}
