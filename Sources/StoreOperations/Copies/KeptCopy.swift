public import ShipProtocol
import StoreFiles
package import StoreInbox
public import SystemPackage

/// One copy among others in a folder of kept copies: a folder of its own that never changes, laid out as a generation is,
/// with what it remembers of the store.
///
///     FOLDER/Recipes-20261120T190405/{Recipes.sqlite, .Recipes_SUPPORT/..., manifest.json, copy.json}
public struct KeptCopy: Hashable, Sendable {
    package let generation: Generation
    private let record: CopyRecord
    /// In the order of the alphabet.
    public let tags: [CopyTag]
    /// The user's own pairs, without the tags.
    public let metadata: [String: ForeignText]

    init(_ generation: Generation, _ record: CopyRecord) {
        self.generation = generation
        self.record = record
        (tags, metadata) = CopyTag.split(generation.manifest.metadata)
    }

    /// - Parameter path: The folder of a copy.
    /// - Throws: `.badManifest`, `.badRecord`, `.file`.
    package init(at path: FilePath) throws(InboxError) {
        let folder = try InboxError.wrapping { () throws(FileError) in try OpenFolder(following: path) }
        self.init(try Generation(in: folder), try CopyRecord.read(in: folder))
    }

    /// Its folder.
    public var path: FilePath { generation.path }
    public var storePath: FilePath { generation.storePath }
    public var manifest: Manifest { generation.manifest }
    /// Rises with each copy that is put into the folder.
    public var number: Int { record.number }
    /// The first complaint of SQLite's check of it, where it is kept as evidence; `nil` for a sound copy.
    public var damage: ForeignText? { record.damage }
    /// Where the original store was.
    public var originalStore: FilePath { FilePath(text: record.store) }

    /// Which store it is a copy of, by the best proof there is.
    package enum Original: Hashable, Sendable {
        /// Core Data's `Z_UUID`, wherever the store is by now. A duplicate of the store has the same, and mostly another name.
        case identified(ForeignText, StoreName)
        case at(FilePath)
    }

    package var original: Original {
        manifest.identity.map { .identified($0, manifest.name) } ?? .at(originalStore)
    }

    /// By their numbers: a clock may be set back. No two have one number, unless a record was tampered with.
    package static func isOlder(_ left: KeptCopy, _ right: KeptCopy) -> Bool {
        (left.number, left.path.lastName) < (right.number, right.path.lastName)
    }
}
