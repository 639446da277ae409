package import ShipProtocol
package import StoreFormat
package import SystemPackage

/// A store that a decoder makes.
package struct StoreToDecode: Sendable {
    /// Where the decoder creates the store. Its working files are beside it; their names begin with the store's name and `.part-`. The
    /// decoder removes them at its end at the latest.
    package let path: FilePath
    /// As the manifest says. They are not trusted.
    package let facts: StoreFacts
    /// Counts the bytes of working files.
    package let room: (any SpillSpace)?
    package let limits: DecodingLimits

    package init(
        path: FilePath, facts: StoreFacts, room: (any SpillSpace)? = nil, limits: DecodingLimits = DecodingLimits()
    ) {
        self.path = path
        self.facts = facts
        self.room = room
        self.limits = limits
    }
}
