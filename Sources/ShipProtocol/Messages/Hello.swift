/// What a consumer says first: what it can do, and what it holds.
///
/// Source: `Protocol/README.md` section 5.1. Vectors: `hello_*`.
package struct Hello: Hashable, Sendable {
    package let software: ForeignText
    /// Names of the encodings that it decodes: those of blocks, and `sqlite-columns` if it takes a store by its rows.
    package let encodings: [ForeignText]
    /// Names of the features that it knows.
    package let features: [ForeignText]?
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

    /// How `encodings` names the frames COLUMNS.
    static let columns: ForeignText = "sqlite-columns"

    /// - Parameter forms: How the consumer takes a store; every one takes it in blocks.
    package init(software: String, taking forms: Set<StoreForm>, holds: [HeldStore]) {
        self.software = ForeignText(software)
        self.encodings =
            BlockEncoding.allCases.map { ForeignText($0.name) } + (forms.contains(.columns) ? [Self.columns] : [])
        self.features = nil
        self.holds = holds.isEmpty ? nil : Array(holds.prefix(Limits.heldStores))
    }
}

extension Hello {
    /// How the consumer takes a store.
    package var storeForms: Set<StoreForm> { encodings.contains(Self.columns) ? [.plain, .columns] : [.plain] }
}

extension Hello: Message {
    var firstFlaw: String? {
        let features = features ?? []
        let labels = [software] + encodings + features
        guard labels.allSatisfy(Label.isValid) else { return "not a label" }
        guard encodings.count <= Limits.features, features.count <= Limits.features else { return "too many names" }
        guard BlockEncoding.allCases.allSatisfy({ encodings.contains(ForeignText($0.name)) }) else {
            return "an encoding that every consumer knows is missing"
        }
        guard holds?.count ?? 0 <= Limits.heldStores else { return "too many stores" }
        return (holds ?? []).lazy.compactMap { Receipt.firstFlaw(ofGeneration: $0.generation) }.first
    }
}
