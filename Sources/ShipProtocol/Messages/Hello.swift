/// What a consumer says first: what it can do, and what it holds.
///
/// Source: `Protocol/README.md` section 5.1. Vectors: `hello_*`.
package struct Hello: Hashable, Sendable {
    package let software: ForeignText
    /// Names of the encodings that it takes beside those that every consumer takes, in the order in which it likes them.
    package let encodings: [ForeignText]?
    /// The current generation of each store.
    package let holds: [HeldStore]?

    package struct HeldStore: Hashable, Sendable, Codable {
        package let name: StoreName
        package let generation: Int
        package let sha256: ContentDigest

        package init(name: StoreName, generation: Int, sha256: ContentDigest) {
            self.name = name
            self.generation = generation
            self.sha256 = sha256
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
        guard holds?.count ?? 0 <= Limits.heldStores else { return "too many stores" }
        return (holds ?? []).lazy.compactMap { Receipt.firstFlaw(ofGeneration: $0.generation) }.first
    }
}
