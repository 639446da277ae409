/// The steps that a publication has of one store beside the head, up to some content of it. Every few publishes there is a new catalog,
/// with the steps since the one before; every few catalogs the content is a landmark, and the catalog has the way there from nothing.
///
///     whole --leap--> landmark ------------leap------------> catalog
///                        |-----skip-----> catalog --skip--------|
///                                           |-step-> -step-> ...|
///
/// Each skip and each leap names the catalog where it begins. So who is long behind finds the catalog that has the steps from what it holds,
/// and reads few others.
///
/// Source: `Protocol/PUBLISHED.md` section 3. Vectors: `catalog_*`.
package struct StoreCatalog: Hashable, Sendable {
    package let name: StoreName
    /// The last shipment that needs nothing, if the content is a landmark. Its content is one, too.
    package let whole: PublishedStep?
    /// From the whole, or from one of the last landmarks, each from where the one before ends: one after each landmark, unless the copy was lost
    /// over which to make it.
    package let leaps: [LinkedStep]
    /// From the last landmark before this content, each from the content of one catalog to that of the next.
    package let skips: [LinkedStep]
    /// Single ones since the catalog before; and those of the skips once more that have short shipments.
    package let steps: [PublishedStep]
    /// The object with the shipments of those that have none of their own, one after the other; `nil` if there are no such.
    package let bundle: PublishedObject?
    /// The catalog before, where no skip begins at it.
    private let former: CatalogLink?
    /// Of the way here.
    private let last: PublishedStep

    /// The content to which it leads.
    package var newest: ManifestContent.ID { last.to }
    /// The number of the shipments that lead there.
    package var counter: UInt64 { last.counter }
    /// The catalog of the last landmark; `nil` if this is one.
    package var landmark: CatalogLink? { whole == nil ? skips.first?.catalog : nil }
    /// The catalog before; `nil` for the first one.
    package var before: CatalogLink? { skips.last?.catalog ?? former }
    package var all: [PublishedStep] { [whole].compactMap(\.self) + (leaps + skips).map(\.step) + steps }
    package var links: [CatalogLink] { (leaps + skips).map(\.catalog) + [former].compactMap(\.self) }
}

// MARK: The object

extension StoreCatalog: Message {
    private enum CodingKeys: String, CodingKey {
        case name, whole, leaps, skips, steps, bundle
        case former = "before"
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        name = try members.decode(StoreName.self, forKey: .name)
        whole = try members.decodeIfPresent(PublishedStep.self, forKey: .whole)
        leaps = try members.decode([LinkedStep].self, forKey: .leaps)
        guard let last = leaps.last?.step ?? whole else {
            throw DecodingError.dataCorruptedError(
                forKey: .leaps, in: members, debugDescription: "neither a whole nor a leap")
        }
        self.last = last
        skips = try members.decode([LinkedStep].self, forKey: .skips)
        steps = try members.decode([PublishedStep].self, forKey: .steps)
        bundle = try members.decodeIfPresent(PublishedObject.self, forKey: .bundle)
        former = try members.decodeIfPresent(CatalogLink.self, forKey: .former)
    }

    var firstFlaw: String? {
        guard all.count <= Limits.publishedSteps else { return "more than \(Limits.publishedSteps) steps" }
        if let flaw = (leaps + skips).lazy.compactMap(\.firstFlaw).first { return flaw }
        if let flaw = all.lazy.compactMap(\.firstFlaw).first { return flaw }
        if let whole {
            guard whole.from == nil else { return "a whole that needs something" }
            guard let leap = leaps.first else { return skips.isEmpty ? flawOfSteps : "skips to a whole" }
            guard leap.step.from == whole.to, leap.catalog.counter == whole.counter else {
                return "leaps that do not begin at the whole"
            }
        }
        guard Self.areChained(leaps), Self.areChained(skips) else { return "leaps or skips that do not follow" }
        guard let first = skips.first, skips.last?.step.to == last.to, skips.last?.step.counter == last.counter,
            leaps.contains(where: { $0.catalog == first.catalog && $0.step.from == first.step.from })
        else { return "skips that do not lead along the leaps" }
        return former == nil ? flawOfSteps : "a catalog before, beside skips"
    }

    private var flawOfSteps: String? {
        if let flaw = former?.firstFlaw { return flaw }
        guard all.dropLast(steps.count).allSatisfy({ $0.sha256 != nil }) else { return "a step without an object" }
        guard steps.allSatisfy({ $0.from != nil }) else { return "a second whole" }
        guard zip(steps, steps.dropFirst()).allSatisfy({ $0.counter <= $1.counter }) else {
            return "numbers that do not rise"
        }
        let bundled = steps.filter { $0.sha256 == nil }
        guard bundled.isEmpty == (bundle == nil) else { return "a bundle without steps, or steps without a bundle" }
        guard let bundle else { return nil }
        return (1...Int64(Limits.bundleSize)).contains(bundle.size) ? nil : "the size of a bundle is out of range"
    }

    private static func areChained(_ steps: [LinkedStep]) -> Bool {
        steps.allSatisfy { $0.step.from != nil }
            && zip(steps, steps.dropFirst()).allSatisfy {
                $1.step.from == $0.step.to && $1.catalog.counter == $0.step.counter
            }
    }

    /// The object.
    package var encoded: [UInt8] { PublicationText.packed(jsonBytes) }

    /// - Parameter bytes: The whole object, whose digest is right.
    /// - Throws: `.badMessage`, `.damaged`.
    package init(decoding bytes: [UInt8]) throws(ProtocolError) {
        guard bytes.count <= Limits.catalogSize else {
            throw FrameType.manifest.bad("it is longer than a catalog may be")
        }
        self = try Self.decode(try PublicationText.unpacked(bytes[...])[...], as: .manifest)
    }

    /// The shipments of the steps that have no object of their own.
    ///
    /// - Parameter bytes: The bundle, whose digest is right.
    /// - Throws: `.badMessage`, `.damaged`.
    package func shipments(in bytes: [UInt8]) throws(ProtocolError) -> [InlineStep] {
        var steps = steps.filter { $0.sha256 == nil }.map { InlineStep($0) }
        var frames = try PublicationText.unpacked(bytes.dropFirst(ContentDigest.size))[...]
        guard steps.takeShipments(from: &frames), frames.isEmpty else {
            throw FrameType.manifest.bad("a bundle that is not one of its steps")
        }
        return steps
    }

    /// Whose bundle it is said to be; `nil` for bytes that are none.
    package static func publisher(ofBundle bytes: [UInt8]) -> ContentDigest? {
        guard bytes.count <= Limits.bundleSize,
            (try? PublicationText.unpacked(bytes.dropFirst(ContentDigest.size))) != nil
        else { return nil }
        return ContentDigest(bytes: bytes.prefix(ContentDigest.size))
    }
}

// MARK: The next catalog

extension StoreCatalog {
    /// The way from the whole may be as long as the whole for one part of it.
    private static let shareOfWay: Int64 = 2
    /// How many leaps before the last landmark a catalog names: who comes from there need not read the catalogs of landmarks in between.
    private static let leapsBefore = 2
    /// How many catalogs it is from one landmark to the next.
    private static let catalogsOfLeap = 8
    /// Most leaps since a whole.
    private static let mostLeaps = 64

    /// The first catalog, or the one with a whole that was made anew.
    ///
    /// - Parameters:
    ///   - before: The catalog before, if it can be read.
    ///   - steps: All since then, to the newest content.
    ///   - bundle: Of those that have no object.
    package init(
        _ name: StoreName, _ whole: PublishedStep, after before: CatalogLink?, steps: [PublishedStep],
        _ bundle: PublishedObject?
    ) {
        self.init(
            name: name, whole: whole, leaps: [], skips: [], steps: steps, bundle: bundle, former: before, last: whole)
    }

    /// The catalog after another one.
    ///
    /// - Parameters:
    ///   - last: That one, with the catalog of the last landmark, which may be the same.
    ///   - skip: From that one's content to the newest.
    ///   - leap: From the landmark to the newest; `nil` if there is none.
    ///   - steps: The single ones since.
    ///   - bundle: Of those that have no object.
    /// - Returns: `nil` if the way from the whole would be too long: then a whole is to be made anew.
    package init?(
        after last: KnownCatalog, landmark: KnownCatalog, skip: PublishedStep, leap: PublishedStep?,
        steps: [PublishedStep],
        _ bundle: PublishedObject?
    ) {
        let isFirst = last.link == landmark.link
        let skip = LinkedStep(skip, after: last.link)
        let known = isFirst ? [] : last.catalog.leaps.drop { $0.catalog != landmark.link }
        let leaps = leap.map { [LinkedStep($0, after: landmark.link)] } ?? known + [skip]
        let all = landmark.catalog.leaps + leaps
        guard let whole = landmark.catalog.whole, all.count <= Self.mostLeaps,
            all.reduce(0, { $0 + $1.step.size }) <= whole.size / Self.shareOfWay
        else { return nil }
        let skips = (isFirst ? [] : last.catalog.skips) + [skip]
        let isLandmark = skips.count >= Self.catalogsOfLeap
        self.init(
            name: last.catalog.name, whole: isLandmark ? whole : nil,
            leaps: isLandmark ? all : all.suffix(leaps.count + Self.leapsBefore), skips: skips, steps: steps,
            bundle: bundle, former: nil, last: leap ?? skip.step)
    }

    /// A catalog that was read.
    package struct KnownCatalog: Sendable {
        package let link: CatalogLink
        package let catalog: StoreCatalog

        package init(_ catalog: StoreCatalog, at object: PublishedObject) {
            (link, self.catalog) = (CatalogLink(object, counter: catalog.counter), catalog)
        }
    }
}
