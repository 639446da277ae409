package import ShipCompression
package import ShipProtocol
package import StoreFormat
package import SystemPackage

/// A store that an encoder reads, and how it is encoded.
package struct StoreToEncode: Sendable {
    /// A copy, which does not change meanwhile.
    package let path: FilePath
    package let facts: StoreFacts
    /// The shapes of its indexes, by their names; `nil` for a store that is not in canonical form: a delta of it goes by its bytes.
    package let shapes: [String: IndexShape]?
    /// The encoder reads it before each segment.
    package let settings: CompressionSettings
    /// Whether the encoder decodes what it encodes, and compares it with the store.
    package let selfCheck: Bool
    /// How many segments are encoded at once.
    package let cores: Int
    /// Whether a link has nothing to do until the first segment is there.
    package let isAwaited: Bool
    /// Where working files go; `nil` for beside the store.
    package let workingFolder: FilePath?
    /// Counts the bytes of working files.
    package let room: (any SpillSpace)?
    /// The segments of an earlier session, which are not encoded again.
    package let earlier: EarlierPieces?
    /// The tables of which the base of a delta has the same content, as the manifests say.
    package var unchanged: Set<ForeignText> = []

    package init(
        path: FilePath, facts: StoreFacts, shapes: [String: IndexShape]?, settings: CompressionSettings,
        selfCheck: Bool, cores: Int, isAwaited: Bool, workingIn folder: FilePath? = nil, room: (any SpillSpace)? = nil,
        goingOnAfter earlier: EarlierPieces? = nil
    ) {
        self.path = path
        self.facts = facts
        self.shapes = shapes
        self.settings = settings
        self.selfCheck = selfCheck
        self.cores = max(1, cores)
        self.isAwaited = isAwaited
        workingFolder = folder
        self.room = room
        self.earlier = earlier
    }
}
