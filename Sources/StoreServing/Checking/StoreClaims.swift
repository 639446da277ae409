package import ShipProtocol

/// What a manifest says that its store can be asked for.
package struct StoreClaims: Hashable, Sendable, Codable {
    package let store: StoreFacts
    package let identity: String?
    package let coreData: Manifest.CoreDataFacts?

    package init(store: StoreFacts, identity: String? = nil, coreData: Manifest.CoreDataFacts? = nil) {
        self.store = store
        self.identity = identity
        self.coreData = coreData
    }

    package init(_ manifest: Manifest) {
        self.init(store: manifest.store, identity: manifest.identity, coreData: manifest.coreData)
    }
}
