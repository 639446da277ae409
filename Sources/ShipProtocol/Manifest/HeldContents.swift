/// The contents that a consumer has told a producer it holds, in its greeting and by its receipts: a manifest may refer to them.
///
/// Source: `Protocol/README.md` sections 5.1 and 5.3.
package struct HeldContents: Hashable, Sendable {
    private var contents: [ManifestContent.ID: ManifestContent] = [:]
    private var size = 0
    private var installed = InstalledContents()

    package init() {}

    /// - Returns: Whether there was room for it (`Limits.heldContents`).
    package mutating func hold(_ content: ManifestContent) -> Bool {
        guard contents[content.id] == nil else { return true }
        guard size + content.json.count <= Limits.heldContents else { return false }
        size += content.json.count
        contents[content.id] = content
        return true
    }

    /// The session has installed a shipment.
    package mutating func install(_ manifest: Manifest) { installed.insert(manifest) }

    subscript(id: ManifestContent.ID) -> ManifestContent? { contents[id] ?? installed[id] }
}
