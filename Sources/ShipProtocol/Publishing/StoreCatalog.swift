/// What a publication has of one store beside the head. Each catalog leads from the one before to a newer content, and names that one: who is
/// long behind reads back as far as there are steps from what it holds. Who holds nothing reads the last one alone.
///
///     whole --leap--> landmark --leap--> landmark --skip--> catalog --skip--> newest
///                                                              |-step-> -step-> -|
///
/// Source: `Protocol/PUBLISHED.md` section 3. Vectors: `catalog_*`.
package struct StoreCatalog: Hashable, Sendable {
    package let name: StoreName
    /// The last shipment that needs nothing. Its content is the first landmark.
    package let whole: PublishedStep
    /// Since the whole, each from one landmark to the next.
    package let leaps: [PublishedStep]
    /// Since the last landmark, each from the content of one catalog to that of the next.
    package let skips: [PublishedStep]
    /// Others, since the catalog before.
    package let steps: [PublishedStep]
    /// The catalog before; `nil` for the first one.
    package let before: PublishedObject?

    /// All shipments that it names.
    package var all: [PublishedStep] { [whole] + leaps + skips + steps }
    /// The content of its last landmark.
    package var landmark: ManifestContent.ID { leaps.last?.to ?? whole.to }
    /// The content to which it leads.
    package var newest: ManifestContent.ID { skips.last?.to ?? landmark }
    /// The number of the shipments that lead there.
    package var counter: UInt64 { skips.last?.counter ?? leaps.last?.counter ?? whole.counter }
}

extension StoreCatalog: Message {
    var firstFlaw: String? {
        guard all.count <= Limits.publishedSteps else { return "more than \(Limits.publishedSteps) steps" }
        guard all.allSatisfy({ $0.sha256 != nil }) else { return "a step without an object" }
        if let flaw = all.lazy.compactMap(\.firstFlaw).first { return flaw }
        guard whole.from == nil else { return "a whole that needs something" }
        var (place, counter) = (whole.to, whole.counter)
        for step in leaps + skips {
            guard step.from == place, step.counter > counter else { return "leaps and skips that do not follow" }
            (place, counter) = (step.to, step.counter)
        }
        guard steps.allSatisfy({ $0.from != nil }) else { return "a second whole" }
        guard zip(steps, steps.dropFirst()).allSatisfy({ $0.counter <= $1.counter }) else {
            return "numbers that do not rise"
        }
        if let before, !(1...Int64(Limits.catalogSize)).contains(before.size) {
            return "the size of a catalog is out of range"
        }
        return nil
    }

    /// The object.
    package var encoded: [UInt8] { PublicationText.packed(jsonBytes) }

    /// - Parameter bytes: The whole object, whose digest is right.
    /// - Throws: `.badMessage`, `.damaged`.
    package init(decoding bytes: [UInt8]) throws(ProtocolError) {
        guard bytes.count <= Limits.catalogSize else {
            throw .badMessage(type: FrameType.manifest.rawValue, flaw: "it is longer than a catalog may be")
        }
        self = try Self.decode(try PublicationText.unpacked(bytes[...])[...], as: .manifest)
    }
}

extension StoreCatalog {
    /// The way from the whole may be as long as the whole for one part of it.
    private static let shareOfWay: Int64 = 2
    /// How many catalogs it is from one landmark to the next.
    private static let catalogsOfLeap = 8
    /// Most leaps since a whole.
    private static let mostLeaps = 64

    /// Whether the catalog after this one is a landmark.
    package var isLeapDue: Bool { skips.count + 1 >= Self.catalogsOfLeap }

    /// The catalog after this one.
    ///
    /// - Parameters:
    ///   - object: This one's.
    ///   - skip: From this one's content to the newest.
    ///   - leap: From the last landmark to the newest, if that is due.
    ///   - steps: The single ones, all since this catalog.
    /// - Returns: `nil` if the way from the whole would be too long: then a whole is to be made anew.
    package func next(
        _ object: PublishedObject, skip: PublishedStep, leap: PublishedStep?, steps: [PublishedStep]
    ) -> StoreCatalog? {
        guard !isLeapDue || leap != nil, leaps.count < Self.mostLeaps else { return nil }
        let next =
            if let leap {
                StoreCatalog(
                    name: name, whole: whole, leaps: leaps + [leap], skips: [], steps: steps + [skip], before: object)
            } else {
                StoreCatalog(
                    name: name, whole: whole, leaps: leaps, skips: skips + [skip], steps: steps, before: object)
            }
        let way = (next.leaps + next.skips).reduce(0) { $0 + $1.size }
        return way <= whole.size / Self.shareOfWay ? next : nil
    }

    /// The first catalog, or the one with a whole that was made anew.
    ///
    /// - Parameters:
    ///   - before: The catalog before, if it can be read.
    ///   - steps: All since then, to the newest content.
    package init(_ name: StoreName, _ whole: PublishedStep, after before: PublishedObject?, steps: [PublishedStep]) {
        self.init(name: name, whole: whole, leaps: [], skips: [], steps: steps, before: before)
    }
}
