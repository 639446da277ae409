/// What a publication has of one store: the shipments, and the objects that none of them needs any more.
///
/// Source: `Protocol/PUBLISHED.md` section 3. Vectors: `catalog_*`.
package struct StoreCatalog: Hashable, Sendable {
    package let name: StoreName
    /// Rising by number, each with its object.
    package let steps: [PublishedStep]
    /// Objects that a reader may still ask for, who has read an earlier head.
    package let gone: [Gone]

    package struct Gone: Hashable, Sendable, Codable {
        package let sha256: ContentDigest
        /// Since when nothing needs it.
        package let since: Timestamp

        package init(sha256: ContentDigest, since: Timestamp) { (self.sha256, self.since) = (sha256, since) }
    }

    /// - Parameters:
    ///   - steps: In any order.
    ///   - gone: Beyond `Limits.goneObjects` the oldest are left out: they are removed as objects that nothing names.
    package init(name: StoreName, steps: [PublishedStep], gone: [Gone]) {
        self.name = name
        self.steps = steps.sorted { $0.counter < $1.counter }
        self.gone = Array(gone.suffix(Limits.goneObjects))
    }
}

extension StoreCatalog: Message {
    var firstFlaw: String? {
        guard steps.count <= Limits.publishedSteps else { return "more than \(Limits.publishedSteps) steps" }
        guard gone.count <= Limits.goneObjects else { return "more than \(Limits.goneObjects) objects that are gone" }
        guard steps.allSatisfy({ $0.sha256 != nil }) else { return "a step without an object" }
        guard zip(steps, steps.dropFirst()).allSatisfy({ $0.counter <= $1.counter }) else {
            return "numbers that do not rise"
        }
        return steps.lazy.compactMap(\.firstFlaw).first
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
    /// How large the steps since the last whole may be, for one part of it: the way that who has nothing takes.
    private static let shareOfWay: Int64 = 2
    /// How many there may be, all together.
    private static let mostSinceWhole = Limits.publishedSteps / 4

    /// Whether a whole is to be made anew: the way from the last one is long, or there is much that who holds a later content may need.
    ///
    /// - Parameters:
    ///   - steps: All that there are.
    ///   - newest: The content that is published now.
    ///   - storeSize: Of its store, in bytes.
    package static func needsWhole(_ steps: [PublishedStep], to newest: ManifestContent.ID, storeSize: Int64) -> Bool {
        guard let whole = steps.filter({ $0.from == nil }).max(by: { $0.counter < $1.counter }),
            let route = PublishedStep.route(
                from: nil, above: 0, to: newest, among: steps.filter { $0.from != nil || $0 == whole },
                storeSize: storeSize)
        else { return true }
        let since = steps.filter { $0.counter > whole.counter }
        return route.dropFirst().reduce(0) { $0 + $1.size } > whole.size / shareOfWay
            || since.reduce(0) { $0 + $1.size } > whole.size || since.count > mostSinceWhole
    }

    /// The catalog with other steps, which keeps as many older ones as are worth it.
    ///
    /// The last whole shipment stays, and the way from it to the newest content, and all steps with higher numbers: who holds a content with
    /// a higher number than the whole's cannot take that. Of the others the newest stay, as long as they are smaller together than the whole:
    /// who is so far behind takes the whole.
    ///
    /// - Parameters:
    ///   - added: With their objects.
    ///   - newest: The content that is published now.
    ///   - storeSize: Of its store, in bytes.
    ///   - time: Now.
    package func adding(
        _ added: [PublishedStep], newest: ManifestContent.ID, storeSize: Int64, at time: Timestamp
    ) -> StoreCatalog {
        let all = steps.filter { step in !added.contains { $0.from == step.from && $0.to == step.to } } + added
        let whole = all.filter { $0.from == nil }.max { $0.counter < $1.counter }
        var kept = Set(whole.map { [$0] } ?? [])
        let route = PublishedStep.route(
            from: nil, above: 0, to: newest, among: all.filter { $0.from != nil || $0 == whole }, storeSize: storeSize)
        kept.formUnion(route ?? [])
        let last = whole?.counter ?? 0
        kept.formUnion(all.filter { $0.counter > last })
        var room = whole?.size ?? .max
        let others = all.filter { $0.from != nil && !kept.contains($0) }.sorted { $0.counter > $1.counter }
        for step in others.prefix(max(0, Limits.publishedSteps - kept.count)) {
            room -= step.size
            guard room >= 0 else { break }
            kept.insert(step)
        }
        // A shipment that was made twice is one object.
        let needed = Set(kept.map(\.sha256))
        let dropped = Set(steps.filter { !needed.contains($0.sha256) }.compactMap(\.sha256))
        let stillGone = gone.filter { !needed.contains($0.sha256) && !dropped.contains($0.sha256) }
        return StoreCatalog(
            name: name, steps: Array(kept),
            gone: stillGone + dropped.sorted { $0.hex < $1.hex }.map { Gone(sha256: $0, since: time) })
    }
}
