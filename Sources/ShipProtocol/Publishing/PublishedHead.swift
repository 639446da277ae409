/// The one file of a publication that changes: for each store the newest content, and the last steps to it. The publisher signs it.
///
///     0   8 bytes   `SHIPHEAD`
///     8   1 byte    version: 1
///     9   32 bytes  the publisher's id, which is also the name of the object with its certificate
///     41  64 bytes  ECDSA signature with P-256 and SHA-256: r, then s
///     105 rest      the content, packed as `PublicationText`: 4 bytes with the length of the JSON; the JSON; the frames of the shipments of the
///                   steps that stand in the head, one after the other
///
/// Source: `Protocol/PUBLISHED.md` section 2. Vectors: `head_*`.
package struct PublishedHead: Hashable, Sendable {
    /// Tells publications of one device apart.
    package let publication: ContentDigest
    /// Rises with each head of the publication.
    package let number: UInt64
    /// Name and version of the publisher's program.
    package let software: ForeignText
    /// When the head was made.
    package let issued: Timestamp
    /// From when on the head says nothing any more.
    package let expires: Timestamp
    /// The id of the device that goes on with the publication from here; `nil` as long as this one does.
    package let next: ContentDigest?
    /// The last head of the device that published before this one, which names this one; `nil` for the first device.
    package let before: PublishedObject?
    /// How the publication is encrypted; `nil` if it is not.
    package let sealing: Sealing?
    /// The stores of which no follower is to take anything; strictly rising by name.
    package let halted: [HaltedStore]
    /// Rising by name; the states of one store one after the other, the newest first.
    package private(set) var stores: [Store]

    /// How a publication is encrypted.
    package struct Sealing: Hashable, Sendable, Codable {
        /// The digest of the object that has the secret for each recipient.
        package let keys: ContentDigest
        /// Tells who the recipients are.
        package let recipients: ContentDigest

        package init(keys: ContentDigest, recipients: ContentDigest) {
            (self.keys, self.recipients) = (keys, recipients)
        }
    }

    /// A store that stays as followers hold it.
    package struct HaltedStore: Hashable, Sendable, Codable {
        package let name: StoreName
        package let since: Timestamp

        package init(name: StoreName, since: Timestamp) { (self.name, self.since) = (name, since) }
    }

    /// A store, as it is now.
    package struct Store: Hashable, Sendable {
        package let name: StoreName
        /// Content of its manifest.
        package let newest: ManifestContent.ID
        /// The number of the shipment that brought it.
        package let counter: UInt64
        /// The store was so when it was looked at last, at this time or later.
        package let asOf: Timestamp
        /// Of the store, in bytes.
        package let size: Int64
        /// Has the other steps; `nil` as long as there are none.
        package let catalog: PublishedObject?
        /// The last steps, the oldest first; their shipments stand in the head.
        package fileprivate(set) var steps: [InlineStep]
        /// Who may take this state when; `nil` for all, at once.
        package private(set) var rollout: [RolloutStage]?

        package init(
            name: StoreName, newest: ManifestContent.ID, counter: UInt64, asOf: Timestamp, size: Int64,
            catalog: PublishedObject?, steps: [InlineStep], rollout: [RolloutStage]? = nil
        ) {
            (self.name, self.newest, self.counter, self.asOf, self.size) = (name, newest, counter, asOf, size)
            (self.catalog, self.steps, self.rollout) = (catalog, steps.signedAtEnd, rollout)
        }

        /// The same, found unchanged at a later time. A time in the future was one of a clock that was ahead.
        package func unchanged(asOf time: Timestamp, at now: Timestamp) -> Store {
            Store(
                name: name, newest: newest, counter: counter, asOf: asOf > now ? time : max(asOf, time), size: size,
                catalog: catalog,
                steps: steps, rollout: rollout)
        }

        /// The same for others.
        package func rolledOut(_ rollout: [RolloutStage]?) -> Store {
            var store = self
            store.rollout = rollout
            return store
        }
    }

    /// - Parameters:
    ///   - halted: In any order.
    ///   - stores: In any order.
    package init(
        publication: ContentDigest, number: UInt64, software: String, issued: Timestamp, expires: Timestamp,
        next: ContentDigest?, before: PublishedObject?, sealing: Sealing?, halted: [HaltedStore], stores: [Store]
    ) {
        (self.publication, self.number, self.software) = (publication, number, ForeignText(software))
        (self.issued, self.expires, self.next, self.before) = (issued, expires, next, before)
        self.sealing = sealing
        self.halted = halted.sorted { $0.name < $1.name }
        self.stores = stores.sorted { ($0.name, $1.counter) < ($1.name, $0.counter) }
    }

    /// The newest state of a store.
    package subscript(_ name: StoreName) -> Store? { stores.first { $0.name == name } }

    /// The states of a store that its followers take, the newest first.
    package func states(of name: StoreName) -> [Store] { stores.filter { $0.name == name } }

    /// Of the stores, rising.
    package var names: [StoreName] {
        stores.indices.filter { $0 == 0 || stores[$0 - 1].name != stores[$0].name }.map { stores[$0].name }
    }
}

extension PublishedHead.Store: Codable {
    fileprivate var firstFlaw: String? {
        guard (0...Limits.partSize).contains(size) else { return "the size of a store is out of range" }
        guard counter > 0 else { return "counters begin at 1" }
        let steps = steps.map(\.step)
        guard steps.count <= Limits.publishedSteps else { return "more than \(Limits.publishedSteps) steps" }
        guard steps.allSatisfy({ $0.sha256 == nil }) else { return "a step in the head that has an object" }
        guard zip(steps, steps.dropFirst()).allSatisfy({ $0.counter <= $1.counter }) else {
            return "numbers that do not rise"
        }
        if let catalog, !(1...Int64(Limits.catalogSize)).contains(catalog.size) {
            return "the size of a catalog is out of range"
        }
        return rollout?.firstFlaw ?? steps.lazy.compactMap(\.firstFlaw).first
    }
}

extension PublishedHead: Message {
    private enum CodingKeys: String, CodingKey {
        case publication, number, software, issued, expires, next, before, sealing, halted, stores
    }

    var firstFlaw: String? {
        guard software.isLabel else { return "software is not a label" }
        for names in [stores.map(\.name), halted.map(\.name)] {
            guard names.count <= Limits.holdings else { return "more than \(Limits.holdings) stores" }
            guard zip(names, names.dropFirst()).allSatisfy(<=) else { return "names that do not rise" }
        }
        guard zip(halted, halted.dropFirst()).allSatisfy({ $0.name != $1.name }) else { return "a store halted twice" }
        for (store, older) in zip(stores, stores.dropFirst()) where store.name == older.name {
            guard store.counter > older.counter else { return "numbers of a store that do not fall" }
            guard store.rollout != nil else { return "an older state beside one for all" }
        }
        // Of equal names, the one that comes so many after another is one too many.
        guard zip(stores, stores.dropFirst(Limits.statesOfStore)).allSatisfy({ $0.name != $1.name }) else {
            return "more than \(Limits.statesOfStore) states of a store"
        }
        if let before, !(1...Int64(Limits.headSize)).contains(before.size) {
            return "the size of a head is out of range"
        }
        return number == 0 ? "numbers begin at 1" : stores.lazy.compactMap(\.firstFlaw).first
    }
}

extension PublishedHead {
    /// Takes the shipments of all steps.
    ///
    /// - Returns: `false` if there are fewer bytes than the steps say.
    mutating func takeShipments(from frames: inout ArraySlice<UInt8>) -> Bool {
        stores.indices.allSatisfy { stores[$0].steps.takeShipments(from: &frames) }
    }
}
