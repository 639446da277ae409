/// What a consumer says first: what it can do, and what it holds.
///
/// Source: `Protocol/README.md` section 5.1. Vectors: `hello_*`.
package struct Hello: Hashable, Sendable {
    package let software: ForeignText
    /// Names of the encodings that it takes beside those that every consumer takes, in the order in which it likes them.
    package let encodings: [ForeignText]?
    /// What is held of each store, as far as its manifests may be referred to.
    package let holds: [HeldStore]?

    package struct HeldStore: Hashable, Sendable, Codable {
        package let name: StoreName
        /// What the manifest of the current generation says.
        package let manifest: ManifestContent.ID?
        /// The same of other generations that are kept, the newest first, in short.
        package let kept: [ManifestContent.ID.Start]?
        /// The same of a shipment that broke off, and of which something waits.
        package let unfinished: ManifestContent.ID.Start?

        package init(
            name: StoreName, manifest: ManifestContent.ID?, kept: [ManifestContent.ID.Start] = [],
            unfinished: ManifestContent.ID.Start? = nil
        ) {
            self.name = name
            self.manifest = manifest
            self.kept = kept.isEmpty ? nil : Array(kept.prefix(Limits.keptGenerations))
            self.unfinished = unfinished
        }
    }

    /// - Parameter encodings: What the consumer takes.
    package init(software: String, taking encodings: CommonEncodings, holds: [HeldStore]) {
        self.software = ForeignText(software)
        let optional = encodings.all.filter { !$0.isMandatory }.map(\.name)
        self.encodings = optional.isEmpty ? nil : optional
        self.holds = holds.isEmpty ? nil : Array(holds.prefix(Limits.heldStores))
    }
}

extension Hello: Message {
    var firstFlaw: String? {
        let encodings = encodings ?? []
        guard ([software] + encodings).allSatisfy(Label.isValid) else { return "not a label" }
        guard encodings.count <= Limits.features else { return "too many names" }
        let holds = holds ?? []
        guard holds.count <= Limits.heldStores else { return "too many stores" }
        guard holds.allSatisfy({ $0.manifest != nil || $0.kept != nil || $0.unfinished != nil }) else {
            return "a store that is not held"
        }
        return holds.allSatisfy({ (1...Limits.keptGenerations).contains($0.kept?.count ?? 1) })
            ? nil : "a number of kept generations out of 1...\(Limits.keptGenerations)"
    }
}
