/// What a consumer says first: what it can do, and what it holds.
///
/// Source: `Protocol/README.md` section 5.1. Vectors: `hello_*`.
package struct Hello: Hashable, Sendable {
    package let software: ForeignText
    /// Names of the encodings that it takes beside those that every consumer takes, in the order in which it likes them.
    package let encodings: [ForeignText]?
    /// The current generation of each store, as far as its manifest may be referred to.
    package let holds: [HeldStore]?

    package struct HeldStore: Hashable, Sendable, Codable {
        package let name: StoreName
        /// What its manifest says.
        package let manifest: ManifestContent.ID

        package init(name: StoreName, manifest: ManifestContent.ID) {
            self.name = name
            self.manifest = manifest
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
        return holds?.count ?? 0 <= Limits.heldStores ? nil : "too many stores"
    }
}
