import EssentialFoundation
import ShipLinks
import ShipProtocol
import StoreBases

/// The head's entry of one store once a new version of it is published. The objects that it names are in the storage.
///
/// A small change goes into the head alone. Every so often what the head has is written into objects, and a catalog of them.
struct PublishedEntry {
    let store: PublishedHead.Store
    /// Bytes of objects.
    private(set) var bytesSent: Int64 = 0
    /// How the version goes to who has the one before, or to who has none.
    private(set) var encoded: EncodedStore?
    private var roles: [Role] = [.newest]
    /// Bytes of shipments in the head that could go into objects.
    private(set) var bytesInHead = 0

    /// Where the shipments go.
    enum Target {
        /// Into the head as long as they are short and few there, and into objects.
        case head
        /// Into objects alone.
        case objects
    }

    /// Most bytes of shipments of a store in a head, deflated: one more, and they go into a bundle. Every follower takes them with each change.
    private static let mostInHead = 1000
    /// The same in number. The newest one stays when the others go, so that who has the state before needs no other request.
    private static let mostStepsInHead = 4
    /// The longest skip that goes into bundles beside its object, in bytes: there may be eight of them.
    private static let longestSkipInBundle: Int64 = 1024

    /// Publishes a version beside what is there.
    ///
    /// - Parameter before: What the head says of the store; `nil` if it is not published yet.
    init(
        of version: PublishedVersion, after before: PublishedHead.Store?, over copies: [RememberedCopy],
        in target: Target, _ publisher: Publisher
    ) async throws {
        let content = version.content
        if let before, before.newest == content {
            store = before.unchanged(asOf: version.asOf, at: Timestamp(Date()))
            return
        }
        guard let counter = version.manifest.counter else {
            throw BrokenInvariant("a version is to be published that has no number")
        }
        // Another program has published a later one.
        if let before, before.counter >= counter {
            store = before
            return
        }
        // It was as published, and is not any more.
        guard let shipment = version.shipment else { throw PublicationError.contended(publisher.place) }
        let steps = try StepMaker(of: shipment, content, counter, publisher)
        func entry(_ catalog: PublishedObject?, _ inHead: [InlineStep]) -> PublishedHead.Store {
            PublishedHead.Store(
                name: version.name, newest: content, counter: counter, asOf: version.asOf,
                size: version.manifest.store.size, catalog: catalog, steps: inHead)
        }
        let inHead = before?.steps ?? []
        let last = copies.first { $0.content.id == before?.newest }
        var next: StepMaker.ShipmentFile?
        if let last { next = try await steps.step(over: last) }
        encoded = next?.encoded
        // Who has none comes by way of it, and could not take another store after it, or one that has lost all rows.
        func isSuccessor(of content: ManifestContent.ID?) -> Bool {
            guard let copy = copies.first(where: { $0.content.id == content }) else { return true }
            return (try? version.manifest.checkSuccession(to: copy.manifest, allowingEmpty: false)) != nil
        }
        if target == .head, isSuccessor(of: before?.newest), let shipment = next?.inHead, let catalog = before?.catalog,
            inHead.count < Self.mostStepsInHead,
            (inHead + [shipment]).packedSize <= Self.mostInHead
        {
            store = entry(catalog, inHead + [shipment])
            bytesInHead = store.steps.packedSize
            return
        }

        let known = try await Self.catalogs(before, publisher)
        var objects: [ManifestContent.ID: PublishedStep] = [:]
        var shortSkip: InlineStep?
        /// The step from another content that was published.
        func step(from content: ManifestContent.ID) async throws -> PublishedStep? {
            if let step = objects[content] { return step }
            var made = content == before?.newest ? next : nil
            if made == nil, let copy = copies.first(where: { $0.content.id == content }) {
                made = try await steps.step(over: copy)
            }
            if content == known?.last.catalog.newest { shortSkip = made?.inHead }
            if let made { objects[content] = try await steps.put(made) }
            return objects[content]
        }
        let skip: PublishedStep? = if let known { try await step(from: known.last.catalog.newest) } else { nil }
        // What the head has alone goes into a bundle.
        var alone = inHead.filter { $0.step.counter > known?.last.catalog.counter ?? 0 }
        var single: PublishedStep?
        if let before, let next, skip?.from != before.newest {
            if let shipment = next.inHead {
                alone.append(shipment)
            } else {
                single = try await step(from: before.newest)
            }
        }
        // And so do short skips, with those before them: who takes many takes them at once.
        if let known, let shortSkip, shortSkip.step.size <= Self.longestSkipInBundle {
            alone = try await Self.shortSkips(of: known.last.catalog, publisher) + alone + [shortSkip]
        }
        alone = alone.signedAtEnd
        let bundle = try await steps.put(bundled: alone)
        let others = alone.map(\.step) + [single].compactMap(\.self)
        // No step leads on from the last content, as where its copy was not remembered: a whole is for those who hold that, too.
        let isCutOff = before != nil && next == nil && skip?.from != before?.newest
        let isOfOneStore = [before?.newest, known?.last.catalog.newest, known?.landmark?.catalog.newest]
            .allSatisfy(isSuccessor)
        var catalog: StoreCatalog?
        if let known, let landmark = known.landmark, let skip, !isCutOff, isOfOneStore {
            catalog = StoreCatalog(
                after: known.last, landmark: landmark, skip: skip,
                leap: try await step(from: landmark.catalog.newest), steps: others, bundle)
        }
        if catalog == nil {
            let whole = try await steps.whole()
            encoded = encoded ?? whole.encoded
            catalog = StoreCatalog(
                version.name, try await steps.put(whole), after: known?.last.link,
                steps: others + [skip].compactMap(\.self), bundle)
        }
        guard let catalog else { throw BrokenInvariant("there is no catalog") }
        let object = try await steps.put(catalog)
        let kept = target == .head ? [next?.inHead].compactMap(\.self) : []
        store = entry(object, kept.packedSize <= Self.mostInHead ? kept : [])
        bytesInHead = store.steps.packedSize
        bytesSent = steps.bytesSent
        roles = [.newest, .catalog] + (catalog.landmark == nil ? [.landmark] : [])
    }

    /// Those since the last landmark whose shipments are in a catalog's bundle.
    private static func shortSkips(of catalog: StoreCatalog, _ publisher: Publisher) async throws -> [InlineStep] {
        guard catalog.landmark != nil, let bundle = catalog.bundle,
            let bytes = try? await publisher.storage.bytes(of: bundle, from: publisher.place),
            let found = try? catalog.shipments(in: bytes)
        else { return [] }
        return found.filter { each in
            catalog.skips.contains { $0.step.from == each.step.from && $0.step.to == each.step.to }
        }
    }

    /// The catalog that the head names, and that of the last landmark; `nil` for what cannot be read: then all that is needed is made anew.
    static func catalogs(
        _ before: PublishedHead.Store?, _ publisher: Publisher
    ) async throws -> (last: StoreCatalog.KnownCatalog, landmark: StoreCatalog.KnownCatalog?)? {
        guard let before, let object = before.catalog,
            let last = try await catalog(object, of: before.name, publisher)
        else { return nil }
        guard let link = last.catalog.landmark else { return (last, last) }
        return (last, try await catalog(link.object, of: before.name, publisher))
    }

    private static func catalog(
        _ object: PublishedObject, of name: StoreName, _ publisher: Publisher
    ) async throws -> StoreCatalog.KnownCatalog? {
        do {
            let catalog = try await publisher.storage.catalog(object, of: name, from: publisher.place)
            return StoreCatalog.KnownCatalog(catalog, at: object)
        } catch PublicationError.badObject, PublicationError.objectGone {
            return nil
        }
    }

    // MARK: What is remembered

    /// Why a copy is remembered: later steps begin at it.
    private enum Role: String { case newest = "", catalog = " (catalog)", landmark = " (landmark)" }

    /// Remembers the version, for later ones to build on.
    func remember(_ version: PublishedVersion, _ bases: RememberedBases?, at place: String) {
        guard let bases, let shipment = version.shipment else { return }
        let state = shipment.version.state?.encoded(with: shipment.options.metadata)
        for role in roles {
            bases.acknowledged(
                version.manifest, copy: shipment.path(ofPart: 0), by: "\(place)\(role.rawValue)", state: state)
        }
    }
}
