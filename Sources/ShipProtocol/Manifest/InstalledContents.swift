/// The contents of the shipments that a session has installed, as far as both sides keep them: of each store the last one, and of all
/// stores the newest that together have at most `Limits.heldContents` bytes.
///
/// Source: `Protocol/README.md` section 5.3. Vectors: `dialogue_again_*`.
package struct InstalledContents: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        let name: StoreName
        let content: ManifestContent
    }

    /// The newest first.
    private var entries: [Entry] = []

    package init() {}

    package mutating func insert(_ manifest: Manifest) {
        entries.removeAll { $0.name == manifest.name }
        entries.insert(Entry(name: manifest.name, content: ManifestContent(of: manifest)), at: 0)
        var room = Limits.heldContents
        entries = Array(
            entries.prefix { entry in
                room -= entry.content.json.count
                return room >= 0
            })
    }

    subscript(id: ManifestContent.ID) -> ManifestContent? { entries.first { $0.content.id == id }?.content }

    /// The content of a store's last shipment; `nil` where none was installed, or its content is not kept.
    package subscript(name: StoreName) -> ManifestContent? { entries.first { $0.name == name }?.content }
}
