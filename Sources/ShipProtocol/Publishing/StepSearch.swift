/// The search for the steps that bring a follower to what is published of a store.
///
///     head -> last catalog -> the first catalog after what is held -> steps
///
/// Source: `Protocol/PUBLISHED.md` section 4.
package struct StepSearch: Sendable {
    private let store: PublishedHead.Store
    private let held: ManifestContent.ID?
    private let last: ManifestContent.ID?
    private let counter: UInt64
    private let ending: UInt64
    private var steps: [PublishedStep]
    /// The catalogs of steps whose shipments are in their bundles.
    private var bundled: [PublishedStep: StoreCatalog] = [:]
    /// The catalogs that were named, and the digests of those that were read.
    private var named: [CatalogLink] = []
    private var read: Set<ContentDigest> = []
    /// The cost of reading them, in bytes.
    private var cost: Int64 = 0
    /// The catalog of the last landmark, which has the way from nothing.
    private var landmark: CatalogLink?
    /// Objects to do without: they are not there, or are others.
    private let missing: Set<ContentDigest>

    /// For which part of the bytes of a way to look for a shorter one.
    private static let shareOfSearch: Int64 = 16
    /// Most steps to look among: those that a publisher makes are far fewer.
    private static let mostSteps = 16_384

    /// - Parameters:
    ///   - store: What the head says of it.
    ///   - held: Content of the follower's current manifest; `nil` for none, or for one that another device has made.
    ///   - last: Content that it has kept, and that came last, if it has gone back behind it.
    ///   - counter: The highest number that it has accepted of the publisher.
    ///   - ending: The number that the last step must be above.
    ///   - missing: Objects to do without.
    package init(
        for store: PublishedHead.Store, from held: ManifestContent.ID?, or last: ManifestContent.ID? = nil,
        above counter: UInt64, endingAbove ending: UInt64 = 0, without missing: Set<ContentDigest> = []
    ) {
        (self.store, self.held, self.last, self.counter) = (store, held, last, counter)
        (self.ending, self.missing) = (ending, missing)
        (steps, read) = (store.steps.map(\.step), missing)
    }

    /// The steps to take; `nil` if those that are known do not lead there.
    package var route: [PublishedStep]? {
        PublishedStep.route(
            from: held, or: last, above: counter, to: store.newest, endingAbove: ending, among: steps,
            storeSize: store.size)
    }

    /// The catalog with whose bundle a shipment comes; `nil` for one that has an object, or stands in the head.
    package func catalog(ofBundled step: PublishedStep) -> StoreCatalog? { bundled[step] }

    /// The catalog to read next.
    ///
    /// - Parameter route: What is known so far.
    /// - Returns: `nil` if that is good enough, or nothing better is to be found.
    package func next(beyond route: [PublishedStep]?) -> PublishedObject? {
        if let route {
            // A way from what is held is short. To look for one costs at most a small part of a whole.
            let size = route.reduce(0) { $0 + $1.size }
            guard held != nil, route.first?.from == nil, cost <= size / Self.shareOfSearch else { return nil }
        }
        if let last = store.catalog, !read.contains(last.sha256) { return last }
        guard steps.count < Self.mostSteps else { return nil }
        // The first catalog after what is held has the steps from there, or there are none.
        let later = held == nil ? nil : named.filter { $0.counter > counter }.min { $0.counter < $1.counter }
        return [later, landmark].compactMap { $0?.object }.first { !read.contains($0.sha256) }
    }

    /// A catalog is not there any more.
    package mutating func skip(_ object: PublishedObject) { read.insert(object.sha256) }

    package mutating func add(_ catalog: StoreCatalog, at object: PublishedObject) {
        if object == store.catalog { landmark = catalog.landmark }
        read.insert(object.sha256)
        cost += object.size + PublishedStep.requestCost
        let found = catalog.all.filter { step in
            (step.sha256 ?? catalog.bundle?.sha256).map { !missing.contains($0) } ?? true
        }
        steps += found
        for step in found where step.sha256 == nil { bundled[step] = catalog }
        named += catalog.links
    }
}
