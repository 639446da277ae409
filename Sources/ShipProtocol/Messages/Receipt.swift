/// The consumer's word that a shipment is installed, durable, current, and was opened read-only.
///
/// Source: `Protocol/README.md` section 5.3. Vectors: `receipt_*`.
public struct Receipt: Hashable, Sendable {
    public let name: StoreName
    /// Numbered from 1 for each name.
    public let generation: Int
    /// Of the installed store, as re-read from the medium.
    public let sha256: ContentDigest
    public let outcome: Outcome

    public enum Outcome: String, Hashable, Sendable, Codable {
        case installed
        /// The current generation already was this very shipment.
        case unchanged
    }

    package init(name: StoreName, generation: Int, sha256: ContentDigest, outcome: Outcome) {
        self.name = name
        self.generation = generation
        self.sha256 = sha256
        self.outcome = outcome
    }
}

extension Receipt: Message {
    var firstFlaw: String? {
        (1...Limits.generation).contains(generation) ? nil : "generations are numbered from 1 to \(Limits.generation)"
    }
}
