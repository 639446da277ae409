/// A shipment that a publication has: it brings a receiver from one content of a store to another.
///
/// Source: `Protocol/PUBLISHED.md` section 3.
package struct PublishedStep: Hashable, Sendable, Codable {
    /// Content of the manifest that the receiver has to hold; `nil` for a whole store, which needs none.
    package let from: ManifestContent.ID?
    /// Content of the manifest that it has then.
    package let to: ManifestContent.ID
    /// The number of the shipment.
    package let counter: UInt64
    /// Of the shipment, in bytes: of its frames, where it has no object.
    package let size: Int64
    /// The digest of the shipment, and the name of its object; `nil` for a shipment that stands in the head, or in a bundle.
    package let sha256: ContentDigest?
    /// r and s of the shipment's SIGNATURE, as 128 digits; `nil` for one that has an object, or whose head alone is signed.
    package private(set) var signature: String?

    package init(
        from: ManifestContent.ID?, to: ManifestContent.ID, counter: UInt64, size: Int64, sha256: ContentDigest?
    ) {
        (self.from, self.to, self.counter, self.size, self.sha256) = (from, to, counter, size, sha256)
    }

    /// The same with this signature; with `nil`, signed by the head alone.
    package func signed(_ value: [UInt8]?) -> PublishedStep {
        var step = self
        step.signature = value.map(ContentDigest.hex)
        return step
    }

    /// The same, whose shipment is an object.
    package func stored(as object: PublishedObject) -> PublishedStep {
        PublishedStep(from: from, to: to, counter: counter, size: object.size, sha256: object.sha256)
    }

    var firstFlaw: String? {
        guard counter > 0 else { return "counters begin at 1" }
        guard from != to else { return "a step that leads nowhere" }
        if let signature {
            guard sha256 == nil else { return "a signature beside an object, which has its own" }
            guard ContentDigest.bytes(Signature.size, ofHex: signature) != nil else {
                return "a signature that is none"
            }
        }
        return (1...Limits.partSize).contains(size) ? nil : "the size of a step is out of range"
    }
}

extension PublishedStep {
    /// The steps that bring a receiver to a content in the fewest bytes, counting what each costs beside its shipment.
    ///
    /// - Parameters:
    ///   - held: Content of its current manifest; `nil` for none.
    ///   - last: Another content that it has kept.
    ///   - counter: The highest number that it has accepted of the publisher: numbers rise along the way.
    ///   - newest: Content to reach.
    ///   - ending: The number that the last step must be above.
    ///   - storeSize: Of the store, in bytes: each step has the receiver write all of it.
    /// - Returns: `[]` if it is there; `nil` if no way leads there.
    package static func route(
        from held: ManifestContent.ID?, or last: ManifestContent.ID? = nil, above counter: UInt64,
        to newest: ManifestContent.ID, endingAbove ending: UInt64 = 0, among steps: [PublishedStep], storeSize: Int64
    ) -> [PublishedStep]? {
        guard held != newest else { return [] }
        let overhead = requestCost + max(0, storeSize) / bytesWrittenForOne
        // The last step of each way, and for each step the one before it: both are indices.
        var best: [ManifestContent.ID?: (cost: Int64, last: Int?)] = [held: (0, nil)]
        // A receiver that holds something may still take the whole.
        if held != nil { best[ManifestContent.ID?.none] = (0, nil) }
        if let last, last != newest { best[last] = (0, nil) }
        let usable = steps.filter { $0.counter > counter }.sorted { $0.counter < $1.counter }
        var before = [Int?](repeating: nil, count: usable.count)
        var final: (cost: Int64, last: Int)?
        var index = 0
        while index < usable.count {
            // Steps of one number all lead to one content: none of them follows another.
            let end = usable[index...].firstIndex { $0.counter != usable[index].counter } ?? usable.count
            var found: [(ManifestContent.ID, (cost: Int64, last: Int?))] = []
            for number in index..<end {
                let step = usable[number]
                guard let way = best[step.from] else { continue }
                before[number] = way.last
                let (cost, overflow) = way.cost.addingReportingOverflow(step.size + overhead)
                guard !overflow else { continue }
                found.append((step.to, (cost, number)))
                if step.to == newest, step.counter > ending, cost < final?.cost ?? .max { final = (cost, number) }
            }
            for (content, way) in found where way.cost < best[content]?.cost ?? .max { best[content] = way }
            index = end
        }
        var (way, last) = ([PublishedStep](), final?.last)
        while let number = last {
            way.append(usable[number])
            last = before[number]
        }
        return way.isEmpty ? nil : way.reversed()
    }

    /// About the bytes of a request and its answer.
    static let requestCost: Int64 = 1024
    /// How many bytes written to the disk are as dear as one on the link.
    private static let bytesWrittenForOne: Int64 = 1024
}
