package import StoreFormat

/// What is known of the canonical form of a copy.
package enum CanonicalFacts: Sendable {
    /// Nobody asked for it.
    case notMade
    /// The copy is in canonical form: what the entries of its indexes are made of, by the names of the indexes.
    case made([String: IndexShape])
    /// The copy is as `VACUUM INTO` left it, because of this.
    case impossible(StoreFlaw)
}
