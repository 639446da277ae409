public import ShipProtocol
package import StoreInbox
public import SystemPackage

/// One copy among others in a folder of kept copies: a folder of its own that never changes, laid out as a generation is.
///
///     FOLDER/Recipes-20261120T190405/{Recipes.sqlite, .Recipes_SUPPORT/..., manifest.json}
public struct KeptCopy: Hashable, Sendable {
    package let generation: Generation
    /// In the order of the alphabet.
    public let tags: [CopyTag]
    /// The user's own pairs, without the tags.
    public let metadata: [String: String]

    init(_ generation: Generation) {
        self.generation = generation
        (tags, metadata) = CopyTag.split(generation.manifest.metadata)
    }

    /// Its folder.
    public var path: FilePath { generation.path }
    public var storePath: FilePath { generation.storePath }
    public var manifest: Manifest { generation.manifest }
}
