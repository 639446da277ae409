/// A step that begins at the content of a catalog.
///
/// Source: `Protocol/PUBLISHED.md` section 3.
package struct LinkedStep: Hashable, Sendable {
    package let step: PublishedStep
    /// The catalog with the content where it begins.
    package let catalog: CatalogLink

    package init(_ step: PublishedStep, after catalog: CatalogLink) { (self.step, self.catalog) = (step, catalog) }

    var firstFlaw: String? {
        if let flaw = step.firstFlaw ?? catalog.firstFlaw { return flaw }
        return step.counter > catalog.counter ? nil : "a step from a catalog that is not older"
    }
}

extension LinkedStep: Codable {
    private enum CodingKeys: String, CodingKey { case catalog }

    package init(from decoder: any Decoder) throws {
        let catalog = try decoder.container(keyedBy: CodingKeys.self).decode(CatalogLink.self, forKey: .catalog)
        self.init(try PublishedStep(from: decoder), after: catalog)
    }

    package func encode(to encoder: any Encoder) throws {
        try step.encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(catalog, forKey: .catalog)
    }
}
