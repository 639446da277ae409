package import ShipProtocol
package import StoreFormat
package import SystemPackage

/// A store that a decoder makes.
package struct StoreToDecode {
    /// Where the decoder creates the store. Its working files are beside it; their names begin with the store's name and `.part-`. The
    /// decoder removes them at its end at the latest.
    package let path: FilePath
    /// Puts a file there that nothing needs any more, and is much the same as the store most likely; returns whether there is one.
    package let takeSpare: @Sendable () -> Bool
    /// As the manifest says. They are not trusted.
    package let facts: StoreFacts
    /// Counts the bytes of working files.
    package let room: (any SpillSpace)?
    package let limits: DecodingLimits
    /// Called again and again while the store grows, with its bytes so far; throws if there is no room for more.
    package let growing: (_ size: Int64) throws -> Void

    package init(
        path: FilePath, facts: StoreFacts, room: (any SpillSpace)? = nil, limits: DecodingLimits = DecodingLimits(),
        takingSpare takeSpare: @escaping @Sendable () -> Bool = { false },
        growing: @escaping (_ size: Int64) throws -> Void = { _ in }
    ) {
        self.path = path
        self.takeSpare = takeSpare
        self.facts = facts
        self.room = room
        self.limits = limits
        self.growing = growing
    }
}
