import EssentialFoundation
import ShipLinks
import ShipProtocol
import StoreBases

/// What the head says of one store once a new version of it is published. What it names is in the storage.
///
/// A small change goes into the head alone. Every so often what the head has is written into objects, and a catalog of them.
struct PublishedEntry {
    let store: PublishedHead.Store
    /// Bytes of objects.
    private(set) var bytesSent: Int64 = 0
    /// How the version goes to who has the one before, or to who has none.
    private(set) var encoded: EncodedStore?
    /// Whether a catalog was written.
    private var isCataloged = false

    /// Most bytes of shipments of a store in a head: one more, and they become objects.
    private static let mostInHead: Int64 = 8192
    /// The same in number.
    private static let mostStepsInHead = 16
    /// How many bytes of them stay in the head when they have become objects, for those who have nearly the newest.
    private static let keptInHead: Int64 = 2048
    /// How long a shipment stands in the head alone while the publisher goes on publishing.
    private static let timeInHead = Duration.seconds(60)

    /// Publishes a version beside what is there.
    ///
    /// - Parameters:
    ///   - before: What the head says of the store; `nil` if it is not published yet.
    ///   - copies: What is remembered of it.
    init(
        of version: PublishedVersion, after before: PublishedHead.Store?, over copies: [RememberedCopy],
        _ publisher: Publisher
    ) async throws {
        let content = version.content
        if let before, before.newest == content {
            store = before.unchanged(asOf: version.asOf)
            return
        }
        guard let shipment = version.shipment, let counter = version.manifest.counter else {
            throw BrokenInvariant("a version is to be published that has no number, or no copy")
        }
        let steps = try StepMaker(of: shipment, content, counter, publisher)
        func entry(_ catalog: PublishedObject?, _ inHead: [PublishedHead.InlineStep]) -> PublishedHead.Store {
            PublishedHead.Store(
                name: version.name, newest: content, counter: counter, asOf: version.asOf,
                size: version.manifest.store.size, catalog: catalog, steps: inHead)
        }
        let inHead = before?.steps ?? []
        let last = copies.first { $0.content.id == before?.newest }
        var next: StepMaker.Made?
        if let last { next = try await steps.step(over: last, from: last.content.id) }
        encoded = next?.encoded
        if let shipment = next?.inHead, let catalog = before?.catalog, inHead.count < Self.mostStepsInHead,
            inHead.size + shipment.step.size <= Self.mostInHead, publisher.hasCataloged(version.name, Self.timeInHead)
        {
            store = entry(catalog, inHead + [shipment])
            return
        }

        var catalog = StoreCatalog(name: version.name, steps: [], gone: [])
        do {
            if let object = before?.catalog { catalog = try await publisher.catalog(object, of: version.name) }
        } catch PublicationError.badObject {
            // It is of no use to anybody: all that is needed is made anew.
        } catch PublicationError.objectGone {
        }
        var added: [PublishedStep] = []
        for step in inHead where !catalog.steps.contains(where: { $0.isSame(as: step.step) }) {
            added.append(try await steps.put(step))
        }
        if let next { added.append(try await steps.put(next)) }
        // One that leads from the last catalog to this one, past the single ones.
        let passed = copies.first { copy in
            copy.record.receiver == Self.catalogReceiver(publisher.place) && copy.content.id != before?.newest
                && copy.content.id != content
        }
        if let passed, let step = try await steps.step(over: passed, from: passed.content.id) {
            added.append(try await steps.put(step))
        }
        let storeSize = version.manifest.store.size
        if StoreCatalog.needsWhole(catalog.steps + added, to: content, storeSize: storeSize) {
            let whole = try await steps.whole()
            encoded = encoded ?? whole.encoded
            added.append(try await steps.put(whole))
        }
        let made = catalog.adding(
            added, newest: content, storeSize: storeSize, at: Timestamp(Date()))
        let object = try await steps.put(made)
        store = entry(object, (inHead + [next?.inHead].compactMap(\.self)).last(of: Self.keptInHead))
        bytesSent = steps.bytesSent
        isCataloged = true
    }

    // MARK: What is remembered

    private static func catalogReceiver(_ place: Endpoint) -> String { "\(place) (catalog)" }

    /// Remembers the version, for later ones to build on.
    func remember(_ version: PublishedVersion, _ bases: RememberedBases?, at place: Endpoint) {
        guard let bases, let shipment = version.shipment else { return }
        let state = shipment.version.state?.encoded(with: shipment.options.metadata)
        for receiver in ["\(place)"] + (isCataloged ? [Self.catalogReceiver(place)] : []) {
            bases.acknowledged(version.manifest, copy: shipment.path(ofPart: 0), by: receiver, state: state)
        }
    }
}

extension [PublishedHead.InlineStep] {
    fileprivate var size: Int64 { reduce(0) { $0 + $1.step.size } }

    /// The last ones, of so many bytes at most.
    fileprivate func last(of size: Int64) -> [PublishedHead.InlineStep] {
        var (kept, room) = (self, size - self.size)
        while room < 0, let first = kept.first {
            room += first.step.size
            kept.removeFirst()
        }
        return kept
    }
}
