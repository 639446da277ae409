/// Another catalog of a store, as a catalog names it.
///
/// Source: `Protocol/PUBLISHED.md` section 3.
package struct CatalogLink: Hashable, Sendable, Codable {
    private let sha256: ContentDigest
    private let size: Int64
    /// The number of the shipments that lead to its content.
    package let counter: UInt64

    package init(_ object: PublishedObject, counter: UInt64) {
        (sha256, size, self.counter) = (object.sha256, object.size, counter)
    }

    package var object: PublishedObject { PublishedObject(sha256: sha256, size: size) }

    var firstFlaw: String? {
        guard counter > 0 else { return "counters begin at 1" }
        return (1...Int64(Limits.catalogSize)).contains(size) ? nil : "the size of a catalog is out of range"
    }
}
