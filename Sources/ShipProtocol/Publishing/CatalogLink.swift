/// Another catalog of a store, as a catalog names it.
///
/// Source: `Protocol/PUBLISHED.md` section 3.
package struct CatalogLink: Hashable, Sendable {
    package let object: PublishedObject
    /// The number of the shipments that lead to its content.
    package let counter: UInt64

    package init(_ object: PublishedObject, counter: UInt64) { (self.object, self.counter) = (object, counter) }

    var firstFlaw: String? {
        guard counter > 0 else { return "counters begin at 1" }
        return (1...Int64(Limits.catalogSize)).contains(object.size) ? nil : "the size of a catalog is out of range"
    }
}

extension CatalogLink: Codable {
    private enum CodingKeys: String, CodingKey { case counter }

    package init(from decoder: any Decoder) throws {
        let counter = try decoder.container(keyedBy: CodingKeys.self).decode(UInt64.self, forKey: .counter)
        self.init(try PublishedObject(from: decoder), counter: counter)
    }

    package func encode(to encoder: any Encoder) throws {
        try object.encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(counter, forKey: .counter)
    }
}
